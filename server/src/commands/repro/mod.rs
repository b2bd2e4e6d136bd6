//! Implements `snapscope repro`, which records a training config as a snapshot.

pub(super) mod config;
mod page;
pub(super) mod progress;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use shared::job::{Job, Overrides};

use super::host::sampled_beside;
use super::output::document;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::{self, Limits, Recording, RecordingFailure};
use crate::{snapshot_file, units};
use config::{Notes, Written, refuse};
use progress::Display;

/// The options of `snapscope repro`.
#[derive(Debug, Clone, Args)]
pub struct ReproArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`
    #[arg(required_unless_present_any = ["check", "keys"])]
    config: Option<PathBuf>,

    /// Print the keys of configs with their defaults, and examples
    #[arg(long, exclusive = true)]
    keys: bool,

    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    training_args: Option<PathBuf>,

    /// Record on virtual GPUs, such as h100-80gb, 4x t4-16gb or custom:48GiB
    #[arg(long, value_name = "CARD", conflicts_with = "device")]
    card: Option<String>,

    /// Record on a real GPU, such as cuda:0
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    /// Only record a small model on the device, to see whether jobs can run there
    #[arg(long, requires = "device")]
    check: bool,

    /// Number of optimizer steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// Samples per micro-batch
    #[arg(long, value_name = "N")]
    batch: Option<u64>,

    /// Tokens per sample
    #[arg(long, value_name = "N")]
    seq_len: Option<u64>,

    /// The snapshot file to write [default: the config's name with .pickle, in the current folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Time limit of the recording, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory of the recorder
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = units::size)]
    memory_limit: u64,

    /// Also write a log of the host memory of the recording to this file, which `snapscope diagnose` reads
    #[arg(long, value_name = "FILE")]
    host_log: Option<PathBuf>,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,
}

impl ReproArgs {
    /// Records the config and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        if self.keys {
            return Ok(include_str!("../../../../docs/configs.md").to_owned());
        }
        if let (true, Some(device)) = (self.check, &self.device) {
            return self.check(device);
        }
        let path = self.config.as_deref().expect("only --check and --keys go without a config");
        let (job, notes) = self.resolved(path)?;
        let output = self.output.clone().unwrap_or_else(|| {
            // `gpt2.pickle` in the current folder for `configs/gpt2.toml`.
            let name = path.file_stem().map_or_else(|| "recording".into(), ToOwned::to_owned);
            PathBuf::from(name).with_added_extension("pickle")
        });
        check_output(&output)?;
        if !self.json {
            eprint!("{}", notes.text());
        }
        let recorder = RecorderConfig::from_environment()?;
        let record = || self.record(&recorder, &job, &output);
        let recording = match &self.host_log {
            Some(log) => sampled_beside(log, record)?,
            None => record()?,
        };
        Ok(if self.json { document(&recording.report()) } else { page::summary(&recording, &job, &output) })
    }

    /// Reads and resolves a config with its training arguments and overrides.
    fn resolved(&self, path: &Path) -> Result<(Job, Notes), Failure> {
        let Written { raw, notes, places } = Written::read(path, self.training_args.as_deref(), self.overrides())?;
        let job = raw.resolve().map_err(|problems| refuse(path, &places.locate(problems)))?;
        Ok((job, notes))
    }

    /// Records a small model on a device; a config that is named has to be valid.
    fn check(&self, device: &str) -> Result<String, Failure> {
        if let Some(path) = &self.config {
            self.resolved(path)?;
        }
        let checked = repro::check(&RecorderConfig::from_environment()?, device, None);
        let recording = checked.map_err(|failure| Self::failed(*failure, repro::CHECK_STEPS))?;
        Ok(if self.json { document(&recording.report()) } else { page::checked(&recording, device) })
    }

    fn failed(failure: RecordingFailure, steps: u64) -> Failure {
        eprint!("{}", page::failure_details(&failure, steps));
        Failure::new(failure.message, failure.hint)
    }

    fn record(&self, recorder: &RecorderConfig, job: &Job, output: &Path) -> Result<Recording, Failure> {
        let limits = Limits { time: self.time_limit, memory_bytes: self.memory_limit, ..Limits::default() };
        let mut display = Display::new(self.json);
        let outcome = repro::run(recorder, job, &limits, output, &mut display);
        display.finish();
        outcome.map_err(|failure| Self::failed(*failure, job.steps))
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            card: self.card.clone(),
            device: self.device.clone(),
            steps: self.steps,
            batch: self.batch,
            sequence: self.seq_len,
        }
    }
}

/// Returns an error if `output` exists and is not a snapshot, because it may be somebody's weights.
pub(super) fn check_output(output: &Path) -> Result<(), Failure> {
    if !output.exists() || snapshot_file::import(output, "").is_ok() {
        return Ok(());
    }
    Err(Failure::new(
        format!("{} already exists and is not a snapshot", output.display()),
        "move it away, or choose another file with --output",
    ))
}
