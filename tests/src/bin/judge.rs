//! Prints the known truth about the recordings of folders beside their findings.
//!
//! Usage: `snapscope-judge FOLDER… [TRUTH]`. The truth is `truth.json`, `TRUTH.md` or `README.md` in the first folder,
//! unless another file is named.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use testkit::judge::{Truths, table};

fn main() -> ExitCode {
    let paths = env::args_os().skip(1).map(PathBuf::from);
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let Some(folder) = folders.first() else {
        eprintln!("usage: snapscope-judge FOLDER… [TRUTH]");
        return ExitCode::from(2);
    };
    let known =
        || ["truth.json", "TRUTH.md", "README.md"].map(|name| folder.join(name)).into_iter().find(|path| path.exists());
    let Some(truth) = files.into_iter().next().or_else(known) else {
        eprintln!("error: {} has no truth.json, TRUTH.md or README.md: name one", folder.display());
        return ExitCode::from(2);
    };
    match Truths::read(&truth).and_then(|truths| table(&folders, &truths)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", folder.display());
            ExitCode::from(2)
        }
    }
}
