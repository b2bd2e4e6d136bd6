//! Names the folder of web pages that go into the program.
//!
//! `SNAPSCOPE_PAGES` is the folder that `./dev pages` fills. Without it, the program has no pages and reads them from a
//! folder, so that nobody needs them to compile or test it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=SNAPSCOPE_PAGES");
    println!("cargo::rerun-if-changed=build.rs");
    let named = env::var_os("SNAPSCOPE_PAGES").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = named.unwrap_or_else(none);
    let folder = fs::canonicalize(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    watch(&folder);
    println!("cargo::rustc-env=SNAPSCOPE_PAGES_INSIDE={}", folder.display());
}

/// Makes an empty folder.
fn none() -> PathBuf {
    let folder = Path::new(&env::var_os("OUT_DIR").expect("cargo names a folder")).join("no-pages");
    fs::create_dir_all(&folder).expect("cargo's folder can be written");
    folder
}

/// Compiles again once a file is changed, added or removed.
fn watch(folder: &Path) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
        if entry.path().is_dir() {
            watch(&entry.path());
        }
    }
}
