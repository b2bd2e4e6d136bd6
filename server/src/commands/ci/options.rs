//! Defines the options of `snapscope ci run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::limit::MostGrowth;
use crate::commands::own::OwnOption;
use crate::units;

/// The options of `snapscope ci run`.
#[derive(Debug, Clone, Args)]
pub struct CiRunArgs {
    /// The commit, branch or tag to compare with, such as origin/main; it is checked out into a temporary folder
    #[arg(long, value_name = "REF", required_unless_present = "base_python")]
    pub(super) base: Option<String>,

    /// The Python for the base, to compare two versions of PyTorch; without --base, with the same files
    #[arg(long, value_name = "PYTHON")]
    pub(super) base_python: Option<PathBuf>,

    /// The virtual GPUs, as for `snapscope run`
    #[arg(long, value_name = "CARD")]
    pub(super) card: Option<String>,

    /// Stop either run after this many optimizer steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) steps: Option<u64>,

    /// Stop either run after this time, such as 90s or 30min
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(super) time: Option<Duration>,

    /// Most growth of the peak of live memory, such as 1% or 100MiB
    #[arg(long, value_name = "GROWTH")]
    pub(super) max_growth: Option<MostGrowth>,

    /// Most growth of the peak of reserved memory
    #[arg(long, value_name = "GROWTH")]
    pub(super) max_reserved_growth: Option<MostGrowth>,

    /// Files and folders that are in no commit and that the base needs as well, such as data/; it gets links to them
    #[arg(long, value_name = "PATH")]
    pub(super) link: Vec<PathBuf>,

    /// Write both snapshots into this folder, as base.pickle and head.pickle, and the verdict of the head as badge.svg
    #[arg(short, long, value_name = "FOLDER")]
    pub(super) output: Option<PathBuf>,

    /// Write the report as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub(super) markdown: Option<PathBuf>,

    #[command(flatten)]
    pub(super) own: OwnOption,

    /// Number of stacks to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,

    /// The command, such as python train.py --steps 3
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}
