//! Implements `snapscope fit`, which finds the largest batch that fits a card and proves it by recordings.
//!
//! For a script, it searches for the largest value of a placeholder in the command.

mod script;
mod template;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use shared::api::FitReport;
use shared::base::format::{count, counted};
use shared::job::{Card, Overrides};
use shared::recordings::{Table, answer, frontier, notes, proof};

use super::output::{Output, document};
use super::repro::config::{Written, stopped};
use super::run::{Trials, script_name};
use super::sweep::progress::Display;
use super::text;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::Limits;
use crate::recording::sweep::fit;
use crate::units;
use script::Script;
use template::Template;
pub(super) use template::has_placeholder;

/// The options of `snapscope fit`.
#[derive(Debug, Clone, Args)]
pub struct FitArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`
    #[arg(required_unless_present = "command")]
    config: Option<PathBuf>,

    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    training_args: Option<PathBuf>,

    /// The virtual GPU to fit in, such as h100-80gb or custom:48GiB [default: that of the config, or a100-80gb]
    #[arg(long, value_name = "CARD")]
    card: Option<String>,

    /// Tokens per sample of a config
    #[arg(long, value_name = "N", conflicts_with = "command")]
    seq_len: Option<u64>,

    /// Optimizer steps of each recording; memory use is stable after the second
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,

    /// Time limit of each recording, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory [default: 16GiB for a config, nine tenths of this machine's for a script]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    memory_limit: Option<u64>,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,

    /// A command with {} or a quoted range such as '{1..64}' in place of the value to find, instead of a config; with a
    /// second one, the largest value for each value of that
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "config")]
    command: Vec<OsString>,
}

/// Limit on the host memory of the recorder.
const RECORDER_BYTES: u64 = 16 << 30;

impl FitArgs {
    /// Searches for the largest batch and returns the text to print.
    pub fn run(&self) -> Result<Output, Failure> {
        match &self.config {
            Some(config) => self.of_config(config).map(Output::from),
            None => self.of_script(),
        }
    }

    fn of_script(&self) -> Result<Output, Failure> {
        let template = Template::read(&self.command)?;
        let card = self.card.clone().unwrap_or_else(|| Card::default().name);
        let trials = Trials::new(&card, self.steps, self.time_limit, self.memory_limit)?;
        let display = Display::new(self.json, None);
        let found = Script::new(template, script_name(&self.command), trials, &display).search();
        display.finish();
        let (report, is_interrupted) = found?;
        let text = if self.json { document(&report) } else { page(&report, None, self.steps) };
        Ok(Output { status: if is_interrupted { Failure::EXIT_STATUS } else { 0 }, ..text.into() })
    }

    fn of_config(&self, config: &Path) -> Result<String, Failure> {
        let overrides = Overrides {
            card: self.card.clone(),
            steps: Some(self.steps),
            sequence: self.seq_len,
            ..Overrides::default()
        };
        let Written { raw, notes, places } = Written::read(config, self.training_args.as_deref(), overrides)?;
        let recorder = RecorderConfig::from_environment()?;
        if !self.json {
            eprint!("{}", notes.text());
        }
        let limits = Limits {
            time: self.time_limit,
            memory_bytes: self.memory_limit.unwrap_or(RECORDER_BYTES),
            ..Limits::default()
        };
        let display = Display::new(self.json, None);
        let found = fit(&recorder, &raw, &limits, None, &display);
        display.finish();
        let found = found.map_err(|error| stopped(error, config, &places, count))?;
        let report = found.report();
        if self.json {
            return Ok(document(&report));
        }
        Ok(page(&report, Some(found.job.parameters()), self.steps))
    }
}

/// Formats the answer and the recordings that prove it.
fn page(report: &FitReport, parameters: Option<u64>, steps: u64) -> String {
    let (runs, of) = match &report.frontier {
        Some(frontier) => (frontier.rows.iter().map(|row| row.probes.len()).sum(), "run"),
        None => (report.probes.len(), if parameters.is_some() { "recording" } else { "run" }),
    };
    let parts = [
        report.card.clone(),
        report.name.clone(),
        parameters.map_or_else(String::new, |parameters| counted(parameters, "parameter")),
        format!("{} of {}", counted(runs as u64, of), counted(steps, "step")),
    ];
    let subtitle = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let mut page = format!("{}\n{subtitle}\n\n", answer(report));
    let (rows, right) = match frontier(report, steps) {
        Some(Table { head, rows, right }) => ([head].into_iter().chain(rows).collect(), right),
        None => (proof(report, steps), vec![1]),
    };
    page += &text::section(&rows, &right);
    for note in notes(report) {
        page += &format!("\nnote: {note}\n");
    }
    page
}
