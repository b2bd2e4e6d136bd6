//! Implements `snapscope fit`, which finds the largest batch that fits a card and proves it by recordings.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use shared::api::FitReport;
use shared::base::format::{count, counted};
use shared::job::{KeyPlaces, Overrides};
use shared::recordings::{answer, notes, proof};

use super::output::document;
use super::repro::config::{Written, refuse};
use super::sweep::progress::Display;
use super::text;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::Limits;
use crate::recording::sweep::{FitError, fit};
use crate::units;

/// The options of `snapscope fit`.
#[derive(Debug, Clone, Args)]
pub struct FitArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`
    config: PathBuf,

    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    training_args: Option<PathBuf>,

    /// The virtual GPU to fit in, such as h100-80gb or custom:48GiB
    #[arg(long, value_name = "CARD")]
    card: Option<String>,

    /// Tokens per sample
    #[arg(long, value_name = "N")]
    seq_len: Option<u64>,

    /// Optimizer steps of each recording; memory use is stable after the second
    #[arg(long, value_name = "N", default_value = "2")]
    steps: u64,

    /// Time limit of each recording, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory of the recorder
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = units::size)]
    memory_limit: u64,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,
}

impl FitArgs {
    /// Searches for the largest batch and returns the text to print.
    ///
    /// # Errors
    ///
    /// Returns an error if the config is wrong, if something that a recording needs is missing, or if a recording
    /// failed.
    pub fn run(&self) -> Result<String, Failure> {
        let overrides = Overrides {
            card: self.card.clone(),
            steps: Some(self.steps),
            sequence: self.seq_len,
            ..Overrides::default()
        };
        let Written { raw, notes, places } = Written::read(&self.config, self.training_args.as_deref(), overrides)?;
        let recorder = RecorderConfig::from_environment()?;
        if !self.json {
            eprint!("{}", notes.text());
        }
        let limits = Limits { time: self.time_limit, memory_bytes: self.memory_limit, ..Limits::default() };
        let display = Display::new(self.json, None);
        let found = fit(&recorder, &raw, &limits, None, &display);
        display.finish();
        let found = found.map_err(|error| self.failure(error, &places))?;
        let report = found.report();
        if self.json {
            return Ok(document(&report));
        }
        Ok(page(&report, found.job.parameters(), self.steps))
    }

    fn failure(&self, error: FitError, places: &KeyPlaces) -> Failure {
        match error {
            FitError::Config(problems) => refuse(&self.config, &places.locate(problems)),
            FitError::Scratch(failure) => failure,
            FitError::Recording(batch, failure) => {
                Failure::new(format!("batch {}: {}", count(batch), failure.message), failure.hint)
            }
        }
    }
}

/// Formats the answer and the recordings that prove it.
fn page(report: &FitReport, parameters: u64, steps: u64) -> String {
    let parts = [
        report.card.clone(),
        report.name.clone(),
        counted(parameters, "parameter"),
        format!("{} of {}", counted(report.probes.len() as u64, "recording"), counted(steps, "step")),
    ];
    let subtitle = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let mut page = format!("{}\n{subtitle}\n\n", answer(report));
    for line in text::table(&proof(report, steps), &[1]) {
        page += &format!("  {line}\n");
    }
    for note in notes(report) {
        page += &format!("\nnote: {note}\n");
    }
    page
}
