//! The binary `snapscope`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use server::Failure;
use server::config::ServeArgs;

/// Reads PyTorch CUDA memory snapshots
#[derive(Parser)]
#[command(name = "snapscope", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the page that shows snapshots in the browser
    Serve(ServeArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(args) => server::serve::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(Failure::EXIT_STATUS)
        }
    }
}
