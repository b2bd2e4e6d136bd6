//! The binary `snapscope`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use server::commands::{
    BehindWallsArgs, CiArgs, DataArgs, DemoArgs, DiagnoseArgs, DiffArgs, ExportArgs, FitArgs, FixArgs, HostArgs,
    InspectArgs, McpArgs, OpenArgs, Output, PeakArgs, RanksArgs, RecordArgs, ReplayArgs, ReportArgs, ReproArgs,
    RunArgs, SegmentsArgs, SourceArgs, SweepArgs, cards, colored, completions, guided, manual, printable,
};
use server::config::{SettingsArgs, is_colored};
use server::decoding::Allowance;

/// Explain and record PyTorch CUDA memory snapshots
#[derive(Parser)]
#[command(name = "snapscope", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Color of severities: always, never, or auto, which is never with NO_COLOR or without a terminal [default: auto]
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_default_value = true, hide_possible_values = true)]
    color: ColorChoice,
}

#[derive(Subcommand)]
enum Command {
    /// Run a command behind the walls of a script from strangers
    #[command(hide = true)]
    BehindWalls(BehindWallsArgs),

    /// List the GPUs that can be simulated
    Cards,

    /// Compare the memory of a script between commits, for CI
    #[command(subcommand)]
    Ci(CiArgs),

    /// Print the script that completes commands and options in a shell
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Check, back up or restore the data of a server
    #[command(subcommand)]
    Data(DataArgs),

    /// Open a training that leaks in the browser, to look around
    Demo(DemoArgs),

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

    /// Find the largest batch that fits in a GPU's memory, for a script or a training config
    #[command(override_usage = "snapscope fit [OPTIONS] <CONFIG>\n       snapscope fit [OPTIONS] -- <COMMAND>...")]
    Fit(Box<FitArgs>),

    /// Try remedies on a training, and tell what makes it fit a GPU and what each costs
    Fix(Box<FixArgs>),

    /// Sample the host memory of a command or a process, with all that it starts, into a table for `diagnose`
    #[command(after_help = "Exit status: that of the command")]
    Host(HostArgs),

    /// Show the format of a snapshot and a summary of its memory use
    Inspect(InspectArgs),

    /// Print the manual page
    Man,

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

    /// Sum snapshots and logs up in a few lines for a chat or an issue
    Report(ReportArgs),

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
    let program = guided(Cli::command());
    let Cli { command, color } =
        Cli::from_arg_matches(&program.clone().get_matches()).unwrap_or_else(|error| error.exit());
    let outcome = match command {
        Command::BehindWalls(args) => Err(args.run()),
        Command::Cards => Ok(cards().into()),
        Command::Ci(args) => args.run(),
        Command::Completions { shell } => Ok(completions(shell, program).into()),
        Command::Data(args) => args.run(),
        Command::Demo(args) => args.run(),
        Command::Diagnose(args) => Ok(args.run()),
        Command::Diff(args) => args.run().map(Output::from),
        Command::Digest { file } => server::shares::print_digest(&file).map(Output::from),
        Command::Export(args) => args.run().map(Output::from),
        Command::Figures { file, memory_bytes, seconds } => {
            server::recording::repro::print_figures(&file, Allowance { memory_bytes, seconds }).map(Output::from)
        }
        Command::Findings { file } => server::shares::print_findings(&file).map(Output::from),
        Command::Fit(args) => args.run(),
        Command::Fix(args) => args.run(),
        Command::Host(args) => args.run(),
        Command::Inspect(args) => args.run().map(Output::from),
        Command::Man => Ok(manual(program).unwrap_or_else(|error| error.to_string()).into()),
        Command::Mcp(args) => args.run().map(|()| Output::default()),
        Command::Open(args) => args.run(),
        Command::Peak(args) => args.run().map(Output::from),
        Command::Ranks(args) => args.run(),
        Command::Record(args) => args.run(),
        Command::Replay(args) => args.run().map(Output::from),
        Command::Report(args) => args.run(),
        Command::Repro(args) => args.run().map(Output::from),
        Command::Run(args) => args.run(),
        Command::Segments(args) => args.run().map(Output::from),
        Command::Serve(args) => server::serve::run(*args).map(|()| Output::default()),
        Command::Source(args) => args.run().map(Output::from),
        Command::Sweep(args) => args.run().map(Output::from),
        Command::Worker(args) => server::jobs::worker::run_alone(*args).map(|()| Output::default()),
    };
    let Output { text, stderr, status } = outcome.unwrap_or_else(Output::from);
    let text = printable(&text);
    let text = if is_colored(color) { colored(&text).into() } else { text };
    // A closed pipe is no error, because a reader such as `head` may stop early.
    let _ = std::io::stdout().write_all(text.as_bytes());
    eprint!("{}", printable(&stderr));
    ExitCode::from(status)
}
