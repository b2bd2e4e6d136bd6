//! Defines the options of `snapscope ci run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use shared::base::format::bytes;

use crate::commands::names::OwnOption;
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

/// Growth that is still allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MostGrowth {
    Percent(f64),
    Bytes(u64),
}

impl MostGrowth {
    pub(super) fn of(self, base_bytes: u64) -> u64 {
        match self {
            Self::Percent(percent) => (base_bytes as f64 * percent / 100.0) as u64,
            Self::Bytes(most) => most,
        }
    }
}

impl std::fmt::Display for MostGrowth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent} %"),
            Self::Bytes(most) => f.write_str(&bytes(*most)),
        }
    }
}

impl FromStr for MostGrowth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither a share nor a size; use for example 1% or 100MiB");
        match text.trim().strip_suffix('%') {
            Some(number) => {
                let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
                (percent.is_finite() && percent >= 0.0).then_some(Self::Percent(percent)).ok_or_else(wrong)
            }
            None => units::size(text).map(Self::Bytes).map_err(|_| wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_a_share_or_a_size() {
        assert_eq!("1%".parse(), Ok(MostGrowth::Percent(1.0)));
        assert_eq!("2.5 %".parse(), Ok(MostGrowth::Percent(2.5)));
        assert_eq!("100MiB".parse(), Ok(MostGrowth::Bytes(100 << 20)));
        for wrong in ["", "1", "-1%", "%", "inf%"] {
            assert!(wrong.parse::<MostGrowth>().unwrap_err().contains("100MiB"), "{wrong}");
        }
        assert_eq!((MostGrowth::Percent(1.0).of(1000), MostGrowth::Bytes(5).of(1000)), (10, 5));
    }
}
