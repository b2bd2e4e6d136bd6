//! The binary `snapscope`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use server::Failure;
use server::commands::{InspectArgs, PeakArgs, ReproArgs};
use server::config::ServeArgs;

/// Reads and makes PyTorch CUDA memory snapshots
#[derive(Parser)]
#[command(name = "snapscope", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what a snapshot is and what it adds up to
    Inspect(InspectArgs),

    /// Say what is alive at the peak, or after any event
    Peak(PeakArgs),

    /// Record a training config on a virtual or a real GPU
    Repro(Box<ReproArgs>),

    /// Serve the page that shows snapshots in the browser
    Serve(ServeArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Inspect(args) => args.run().map(print),
        Command::Peak(args) => args.run().map(print),
        Command::Repro(args) => args.run().map(print),
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

/// A reader that closes the pipe early, such as `head`, is no failure.
fn print(text: String) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
