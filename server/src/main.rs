//! The binary `snapscope`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use server::Failure;
use server::commands::{
    DataArgs, DiagnoseArgs, DiffArgs, ExportArgs, FitArgs, InspectArgs, PeakArgs, RanksArgs, ReplayArgs, ReproArgs,
    SegmentsArgs, SweepArgs, printable,
};
use server::config::SettingsArgs;
use server::decoding::Allowance;

/// Reads and makes PyTorch CUDA memory snapshots
#[derive(Parser)]
#[command(name = "snapscope", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Look after what a server keeps: check it, back it up, restore it
    #[command(subcommand)]
    Data(DataArgs),

    /// Say what holds memory, what leaks, and what to do about it
    #[command(after_help = "Exit status: 0 without findings of severity error, 1 with, 2 for unreadable input")]
    Diagnose(DiagnoseArgs),

    /// Say what one moment holds more or less than another, of two files or of one
    Diff(DiffArgs),

    /// Read a snapshot for a link's preview, within limits
    #[command(hide = true)]
    Digest {
        /// The file
        file: PathBuf,
    },

    /// Write a snapshot in another form, or a copy that others may see
    Export(ExportArgs),

    /// Read a recorder's snapshot, within limits
    #[command(hide = true)]
    Figures {
        /// The file
        file: PathBuf,
        /// Address space that reading it may take
        memory_bytes: u64,
        /// Processor time that reading it may take
        seconds: u64,
    },

    /// Find the largest batch of a training config that fits a card
    Fit(Box<FitArgs>),

    /// Say what a snapshot is and what it adds up to
    Inspect(InspectArgs),

    /// Say what is alive at the peak, or after any event
    Peak(PeakArgs),

    /// Lay the snapshots of one job's processes side by side and name those that are unlike the others
    Ranks(RanksArgs),

    /// Carry a snapshot's requests out again under other allocator settings or on another card
    Replay(ReplayArgs),

    /// Record a training config on a virtual or a real GPU
    Repro(Box<ReproArgs>),

    /// Say what the segments hold at the peak, or after any event, and what keeps them
    Segments(SegmentsArgs),

    /// Serve the page, and record jobs
    Serve(Box<SettingsArgs>),

    /// Record each combination of a training config with ranges
    Sweep(Box<SweepArgs>),

    /// Record jobs of a server on another machine
    Worker(Box<SettingsArgs>),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Data(args) => match args.run() {
            Ok((page, is_bad)) => return partly(page, &[], u8::from(is_bad)),
            Err(failure) => Err(failure),
        },
        Command::Diagnose(args) => {
            let diagnosis = args.run();
            return partly(diagnosis.text, &diagnosis.unread, u8::from(diagnosis.has_errors));
        }
        Command::Diff(args) => args.run().map(print),
        Command::Digest { file } => server::shares::print_digest(&file).map(print),
        Command::Export(args) => args.run().map(print),
        Command::Figures { file, memory_bytes, seconds } => {
            server::repro::print_figures(&file, Allowance { memory_bytes, seconds }).map(print)
        }
        Command::Fit(args) => args.run().map(print),
        Command::Inspect(args) => args.run().map(print),
        Command::Peak(args) => args.run().map(print),
        Command::Ranks(args) => match args.run() {
            Ok(page) => return partly(page.text, &page.unread, 0),
            Err(failure) => Err(failure),
        },
        Command::Replay(args) => args.run().map(print),
        Command::Repro(args) => args.run().map(print),
        Command::Segments(args) => args.run().map(print),
        Command::Serve(args) => server::serve::run(*args),
        Command::Worker(args) => server::worker::run_alone(*args),
        Command::Sweep(args) => args.run().map(print),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", printable(&failure.to_string()));
            ExitCode::from(Failure::EXIT_STATUS)
        }
    }
}

/// Prints the result and the failures of files that could not be read; any such failure sets the exit status.
fn partly(text: String, unread: &[Failure], status: u8) -> ExitCode {
    print(text);
    unread.iter().for_each(|failure| eprintln!("{}", printable(&failure.to_string())));
    ExitCode::from(if unread.is_empty() { status } else { Failure::EXIT_STATUS })
}

/// Prints to standard output and ignores a closed pipe, because a reader such as `head` may stop early.
fn print(text: String) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(printable(&text).as_bytes());
}
