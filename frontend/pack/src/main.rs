//! Turns the compiled pages and `static/` into the folder that the server serves.
//!
//! `snapscope-pack [--quick] STATIC OUT FOLDER`, called by `./dev build` and, with `--quick`, by `./dev serve`:
//!
//! 1. wasm-bindgen writes the JavaScript that loads each module of the FOLDER in which cargo has left them.
//! 2. Scripts, styles and modules go to `OUT/assets/HASH/`; only documents stay at the top of `OUT`.
//! 3. The PNG icons of the installed page are drawn, and `sw.js` gets the list of the viewer's files.
//! 4. Every file that shrinks gets a `.br` and a `.gz` beside it, so that the server never compresses.
//!
//! It does nothing if neither its input nor the program itself has changed since the last run.

mod files;
mod icons;
mod site;

use crate::files::Effort;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

/// Names of the pages' modules.
const MODULES: [&str; 5] = ["home", "viewer", "engine", "log", "jobs"];

struct Paths {
    statics: PathBuf,
    out: PathBuf,
    modules: [PathBuf; 5],
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from).peekable();
    let is_quick = arguments.next_if(|first| first == Path::new("--quick")).is_some();
    let effort = if is_quick { Effort::Quick } else { Effort::Best };
    let (Some(statics), Some(out), Some(built)) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: snapscope-pack [--quick] STATIC OUT FOLDER");
        return ExitCode::from(2);
    };
    let paths = Paths { statics, out, modules: MODULES.map(|name| built.join(name).with_extension("wasm")) };
    match pack(&paths, effort) {
        Ok(summary) => {
            println!("pages: {summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: the pages could not be packed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Packs the pages and returns a one-line summary.
fn pack(paths: &Paths, effort: Effort) -> Result<String> {
    // The stamp lies beside the folder, because inside it would be served.
    let (hash, stamp) = (hash_of(paths)?, paths.out.with_extension("stamp"));
    if paths.out.is_dir() && fs::read_to_string(&stamp).is_ok_and(|of_folder| of_folder == hash) {
        return Ok(format!("{} is up to date", paths.out.display()));
    }
    let mut scripts = files::Files::new();
    for module in &paths.modules {
        scripts.extend(site::generate(module)?);
    }
    let statics = files::read_folder(&paths.statics)?;
    scripts.extend(icons::draw(&statics)?);
    let site = site::assemble(statics, scripts)?;

    // A new folder replaces the old one at the end, so that a running server never reads half a page.
    let fresh = paths.out.with_extension("new");
    let totals = files::write(&site, &fresh, effort)?;
    if paths.out.exists() {
        fs::remove_dir_all(&paths.out).with_context(|| format!("removing {}", paths.out.display()))?;
    }
    fs::rename(&fresh, &paths.out).with_context(|| format!("putting {} in place", paths.out.display()))?;
    fs::write(stamp, hash).context("writing the stamp")?;
    Ok(format!("{}, {totals}", paths.out.display()))
}

/// Returns a hash of all input, including this program.
fn hash_of(paths: &Paths) -> Result<String> {
    let mut hasher = Sha256::new();
    // The program is identified by its modification time, because it is many times larger than the page.
    let built = fs::metadata(std::env::current_exe()?)?.modified()?.duration_since(UNIX_EPOCH)?;
    hasher.update(built.as_nanos().to_le_bytes());
    for module in &paths.modules {
        hasher.update(fs::read(module).with_context(|| format!("reading {}", module.display()))?);
    }
    for (path, bytes) in files::read_folder(&paths.statics)? {
        hasher.update(path);
        hasher.update(bytes);
    }
    Ok(site::hex(&hasher.finalize()))
}
