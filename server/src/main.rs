//! The binary `snapscope`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use server::Failure;
use server::commands::{
    CiArgs, CiOutput, DataArgs, DiagnoseArgs, DiffArgs, ExportArgs, FitArgs, HostArgs, HostOutput, InspectArgs,
    McpArgs, OpenArgs, OpenOutput, PeakArgs, RanksArgs, RecordArgs, RecordOutput, ReplayArgs, ReproArgs, RunArgs,
    RunOutput, SegmentsArgs, SourceArgs, SweepArgs, printable,
};
use server::config::SettingsArgs;
use server::decoding::Allowance;

/// Explain and record PyTorch CUDA memory snapshots
#[derive(Parser)]
#[command(name = "snapscope", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare the memory of a script between commits, for CI
    #[command(subcommand)]
    Ci(CiArgs),

    /// Check, back up or restore the data of a server
    #[command(subcommand)]
    Data(DataArgs),

    /// Explain what uses memory, find leaks and suggest fixes
    #[command(after_help = "Exit status: 0 if no finding has severity error, 1 if one has, 2 if a file cannot be read")]
    Diagnose(DiagnoseArgs),

    /// Compare the live memory of two snapshots, or of two moments in one snapshot
    Diff(DiffArgs),

    /// Read a snapshot for a link's preview, within limits
    #[command(hide = true)]
    Digest {
        /// The file
        file: PathBuf,
    },

    /// Find the findings of a shared snapshot, within limits
    #[command(hide = true)]
    Findings {
        /// The file
        file: PathBuf,
    },

    /// Convert a snapshot to another format, or make a sanitized copy to share
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

    /// Find the largest batch of a training config that fits in a GPU's memory
    Fit(Box<FitArgs>),

    /// Sample the host memory of a command or a process, with all that it starts, into a table for `diagnose`
    #[command(after_help = "Exit status: that of the command")]
    Host(HostArgs),

    /// Show the format of a snapshot and a summary of its memory use
    Inspect(InspectArgs),

    /// Answer the questions of an agent by the Model Context Protocol, over standard input and output
    Mcp(McpArgs),

    /// Open snapshots and logs in the browser, and serve them to it until the page is closed
    #[command(after_help = "Exit status: 0, or 2 if a file cannot be read")]
    Open(OpenArgs),

    /// Show the live allocations at the peak, or after any event
    Peak(PeakArgs),

    /// Compare the snapshots of one job's ranks and report the ranks that differ from the others
    Ranks(RanksArgs),

    /// Run a Python program on a real GPU and record its memory, with nothing to change in the program
    #[command(after_help = "Exit status: that of the command")]
    Record(Box<RecordArgs>),

    /// Replay a snapshot's allocations with other allocator settings or on another GPU
    Replay(ReplayArgs),

    /// Run a training config on a virtual or real GPU and record a snapshot
    Repro(Box<ReproArgs>),

    /// Run a Python script on virtual GPUs, without a GPU, and say whether it fits
    #[command(after_help = "Exit status: 0 if it fits, 1 if memory runs out, 2 if something is not supported, \
                            3 if the script failed")]
    Run(Box<RunArgs>),

    /// Show the segments at the peak, or after any event, and the allocations that keep them reserved
    Segments(SegmentsArgs),

    /// Run the web server, which serves the viewer and records jobs
    Serve(Box<SettingsArgs>),

    /// Show which source lines allocate, and quote them from a folder
    Source(SourceArgs),

    /// Record a training config with every combination of several values
    Sweep(Box<SweepArgs>),

    /// Record jobs for a server on another machine
    Worker(Box<SettingsArgs>),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Ci(args) => match args.run() {
            Ok(CiOutput { text, status }) => return partly(text, &[], status),
            Err(failure) => Err(failure),
        },
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
            server::recording::repro::print_figures(&file, Allowance { memory_bytes, seconds }).map(print)
        }
        Command::Findings { file } => server::shares::print_findings(&file).map(print),
        Command::Fit(args) => args.run().map(print),
        Command::Host(args) => match args.run() {
            Ok(HostOutput { text, status }) => {
                // Standard output belongs to the command.
                eprint!("{}", printable(&text));
                return ExitCode::from(status);
            }
            Err(failure) => Err(failure),
        },
        Command::Inspect(args) => args.run().map(print),
        Command::Mcp(args) => args.run(),
        Command::Open(args) => match args.run() {
            Ok(OpenOutput { text, status }) => return partly(text, &[], status),
            Err(failure) => Err(failure),
        },
        Command::Peak(args) => args.run().map(print),
        Command::Ranks(args) => match args.run() {
            Ok(page) => return partly(page.text, &page.unread, 0),
            Err(failure) => Err(failure),
        },
        Command::Record(args) => match args.run() {
            Ok(RecordOutput { text, status }) => {
                eprint!("{}", printable(&text));
                return ExitCode::from(status);
            }
            Err(failure) => Err(failure),
        },
        Command::Replay(args) => args.run().map(print),
        Command::Repro(args) => args.run().map(print),
        Command::Run(args) => match args.run() {
            Ok(RunOutput { text, status }) => return partly(text, &[], status),
            Err(failure) => Err(failure),
        },
        Command::Segments(args) => args.run().map(print),
        Command::Serve(args) => server::serve::run(*args),
        Command::Source(args) => args.run().map(print),
        Command::Worker(args) => server::jobs::worker::run_alone(*args),
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
