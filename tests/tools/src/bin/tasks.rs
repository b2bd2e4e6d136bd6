//! Runs `./dev tasks`, which answers questions about strangers' snapshots on the page.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Opens real snapshots on the page and counts clicks and seconds until ten questions are answered.
#[derive(Parser)]
struct Options {
    /// Folder with the snapshots.
    folder: PathBuf,
}

fn main() -> ExitCode {
    let Options { folder } = Options::parse();
    match tools::tasks::run(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tasks: {message}");
            ExitCode::FAILURE
        }
    }
}
