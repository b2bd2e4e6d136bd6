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
mod offline;
mod site;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::files::Effort;
use anyhow::{Context, Result};

/// Names of the pages' modules.
const MODULES: [&str; 4] = ["home", "viewer", "engine", "jobs"];

/// Paths given on the command line.
struct Paths {
    statics: PathBuf,
    out: PathBuf,
    modules: [PathBuf; 4],
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
    let stamp = offline::Stamp::of(paths)?;
    if stamp.is_current() {
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
        std::fs::remove_dir_all(&paths.out).with_context(|| format!("removing {}", paths.out.display()))?;
    }
    std::fs::rename(&fresh, &paths.out).with_context(|| format!("putting {} in place", paths.out.display()))?;
    stamp.save()?;
    Ok(format!("{}, {totals}", paths.out.display()))
}
