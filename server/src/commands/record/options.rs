//! Defines the options of `snapscope record`, and writes them as the package reads them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::units;

/// The options of `snapscope record`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RecordArgs {
    /// The folder for snapshots
    #[arg(short, long, value_name = "FOLDER", default_value = "snapshots")]
    output: PathBuf,

    /// Record only these steps of the optimizer, such as 5..10, or the first N
    #[arg(long, value_name = "A..B", value_parser = steps)]
    steps: Option<String>,

    /// Number of latest events to keep; each takes up to a kilobyte of host memory [default: 500000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    entries: Option<u64>,

    /// Write a snapshot after each N steps as well
    #[arg(long, value_name = "N")]
    every: Option<u64>,

    /// Write a snapshot from time to time as well, so that a killed program leaves its last
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    rolling: Option<Duration>,

    /// Number of snapshots of --every and --rolling to keep [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    keep: Option<u64>,

    /// Write a snapshot when this signal arrives, such as USR1
    #[arg(long, value_name = "SIGNAL", value_parser = signal)]
    signal: Option<String>,

    /// Write a snapshot when this file appears or is touched
    #[arg(long, value_name = "FILE")]
    trigger: Option<PathBuf>,

    /// Record only these ranks
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    ranks: Vec<u64>,

    /// Do not write a snapshot when memory runs out
    #[arg(long)]
    no_out_of_memory: bool,

    /// Record stacks of C++ as well, with which a snapshot can take minutes
    #[arg(long)]
    all_stacks: bool,

    /// Record the stacks of frees as well
    #[arg(long)]
    frees: bool,

    /// Mark the calls of modules, and name parameters and optimizer state
    #[arg(long)]
    modules: bool,

    /// Find who holds live tensors, and reference cycles; takes seconds per snapshot
    #[arg(long)]
    holders: bool,

    /// Do not compress
    #[arg(long)]
    raw: bool,

    /// First part of the names of files [default: the job's, or the script's with the time]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,

    /// Leave the name of the host out of the sidecars
    #[arg(long)]
    no_host: bool,

    /// Log nothing to the trackers that the program uses: wandb, Trackio, MLflow or TensorBoard
    #[arg(long)]
    no_trackers: bool,

    /// The command to run, such as python train.py
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl RecordArgs {
    pub(super) fn command(&self) -> &[OsString] {
        &self.command
    }

    /// Returns the options in the form of the variable `SNAPSCOPE_RECORD`.
    pub(super) fn text(&self) -> String {
        let folder = std::path::absolute(&self.output).unwrap_or_else(|_| self.output.clone());
        let trigger = self.trigger.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let ranks: Vec<_> = self.ranks.iter().map(u64::to_string).collect();
        let given = [
            ("steps", self.steps.clone()),
            ("entries", self.entries.map(|count| count.to_string())),
            ("every", self.every.map(|count| count.to_string())),
            ("seconds", self.rolling.map(|time| time.as_secs_f64().to_string())),
            ("keep", self.keep.map(|count| count.to_string())),
            ("signal", self.signal.clone()),
            ("trigger", trigger.map(|path| path.display().to_string())),
            ("ranks", Some(ranks.join(",")).filter(|ranks| !ranks.is_empty())),
            ("run", self.run.clone()),
            ("out_of_memory", flag(self.no_out_of_memory, "no")),
            ("stacks", flag(self.all_stacks, "all")),
            ("frees", flag(self.frees, "yes")),
            ("modules", flag(self.modules, "yes")),
            ("holders", flag(self.holders, "yes")),
            ("compress", flag(self.raw, "no")),
            ("host", flag(self.no_host, "no")),
            ("trackers", flag(self.no_trackers, "no")),
        ];
        // A folder whose name has `=` is no option if it has quotes around a slash at its beginning.
        let mut text = quoted(&folder.display().to_string());
        for (name, value) in given {
            if let Some(value) = value {
                text += &format!(" {name}={}", quoted(&value));
            }
        }
        text
    }
}

fn flag(is_set: bool, value: &str) -> Option<String> {
    is_set.then(|| value.to_owned())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Checks `A..B` or `N`.
fn steps(text: &str) -> Result<String, String> {
    let (first, last) = text.split_once("..").unwrap_or(("0", text));
    let number = |text: &str| text.parse::<u64>().ok();
    match (number(if first.is_empty() { "0" } else { first }), number(last)) {
        (Some(first), Some(last)) if first < last => Ok(text.to_owned()),
        _ => Err("steps are a range such as 5..10, or a number".to_owned()),
    }
}

/// Checks the name of a signal that a program can handle.
fn signal(text: &str) -> Result<String, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let known = ["USR1", "USR2", "TERM", "HUP", "INT", "QUIT", "CONT", "WINCH", "XCPU", "ALRM"];
    if known.contains(&name) {
        Ok(format!("SIG{name}"))
    } else {
        Err(format!("a signal is one of {}", known.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_signals_and_texts_are_read_as_they_are_typed() {
        for text in ["5..10", "..10", "3"] {
            assert_eq!(steps(text).as_deref(), Ok(text));
        }
        for text in ["", "0", "5..5", "5..", "a..b"] {
            assert!(steps(text).is_err(), "{text}");
        }
        assert_eq!([signal("usr1"), signal("SIGTERM")], [Ok("SIGUSR1".to_owned()), Ok("SIGTERM".to_owned())]);
        assert!(signal("KILL").is_err());
        assert_eq!([quoted("a b"), quoted("it's")], ["'a b'", r"'it'\''s'"]);
    }
}
