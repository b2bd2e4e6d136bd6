//! Implements `snapscope fix`, which tries remedies on a training and tells what makes it fit.
//!
//! Each remedy is tried by a run on the virtual GPU, none by formula, and is offered only if its run took the same steps
//! with less memory. What the user has to add is what the hook has done while the script ran.

mod lines;
mod remedies;
mod script;
mod trials;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use shared::api::FixReport;
use shared::job::{Card, Overrides};
use shared::recordings::fix::{answer, html, lines, notes, svg, table};

use super::output::{self, Output, document};
use super::repro::config::{Written, stopped};
use super::run::{check_platform, read_cards, script_name};
use super::sweep::AT_ONCE;
use super::sweep::progress::Display;
use super::text;
use crate::Failure;
use crate::config::{RecorderConfig, ScriptConfig};
use crate::folder::make_temporary;
use crate::recording::fix::fix_config;
use crate::recording::repro::Limits;
use crate::recording::sweep::{Audience as _, Settings};
use crate::units;
use remedies::Remedy;
use script::{Fix, Knob};
use trials::Trials;

/// The options of `snapscope fix`.
#[derive(Debug, Clone, Args)]
pub struct FixArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`, instead of a command
    #[arg(required_unless_present = "command")]
    config: Option<PathBuf>,

    /// The virtual GPU to fit in, such as h100-80gb or custom:48GiB [default: that of the config, or a100-80gb]
    #[arg(long, value_name = "CARD")]
    card: Option<String>,

    /// Optimizer steps of each run; memory use is stable after the second
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,

    /// The batch of the script and its range, by an option of its own or a constant: '--batch-size 1..64', 'BATCH=1..64'
    #[arg(long, value_name = "KNOB", requires = "command")]
    knob: Option<Knob>,

    /// Ranks of the script, of which the first runs, as `snapscope run --world` does
    #[arg(long, value_name = "N", requires = "command", value_parser = clap::value_parser!(u64).range(1..))]
    world: Option<u64>,

    /// Run the script with these remedies only, joined by +, and keep the snapshot
    #[arg(long = "try", value_name = "NAME", requires = "command")]
    only: Option<String>,

    /// Also write the answer as a page with the curves of all runs: FILE.html, or .svg or .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Time limit of each run, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory of each run [default: 16GiB for a config, nine tenths of this machine's for a script]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    memory_limit: Option<u64>,

    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    training_args: Option<PathBuf>,

    /// Tokens per sample of a config
    #[arg(long, value_name = "N", conflicts_with = "command")]
    seq_len: Option<u64>,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,

    /// The command, such as python train.py --config base.yaml
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "config")]
    command: Vec<OsString>,
}

impl FixArgs {
    /// Tries the remedies and returns the text to print.
    pub fn run(&self) -> Result<Output, Failure> {
        if let Some(names) = &self.only {
            return self.run_one(names);
        }
        let display = Display::new(self.json, None);
        let report = match &self.config {
            Some(config) => self.of_config(config, &display),
            None => self.trials(&display).and_then(|trials| {
                Fix { trials, name: script_name(&self.command), knob: self.knob.clone(), display: &display }.report()
            }),
        };
        display.finish();
        let report = report?;
        if let Some(file) = &self.output {
            output::write(file, &written(&report, file))?;
        }
        let text = match self.json {
            true => document(&report),
            false if self.output.is_none() && !report.remedies.is_empty() => {
                page(&report) + "note: -o fix.html writes a page with the lines of each remedy\n"
            }
            false => page(&report),
        };
        let status = if display.is_cancelled() { Failure::EXIT_STATUS } else { 0 };
        Ok(Output { status, ..text.into() })
    }

    /// Records the config with its remedies.
    fn of_config(&self, config: &Path, display: &Display) -> Result<FixReport, Failure> {
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
        let memory_bytes = self.memory_limit.unwrap_or(Limits::default().memory_bytes);
        let limits = Limits { time: self.time_limit, memory_bytes, ..Limits::default() };
        let settings = Settings { limits, at_once: AT_ONCE, keep: None, scratch: None };
        let found = fix_config(&recorder, &raw, &settings, display);
        found.map_err(|error| stopped(error, config, &places, |batch| batch.to_string()))
    }

    fn trials<'a>(&'a self, display: &'a Display) -> Result<Trials<'a>, Failure> {
        check_platform()?;
        let scratch = make_temporary("snapscope-fix-", None).map_err(|error| Failure::temporary(&error))?;
        Ok(Trials {
            config: ScriptConfig::from_environment()?,
            command: &self.command,
            cards: read_cards(&self.card.clone().unwrap_or_else(|| Card::default().name))?,
            steps: self.steps,
            time_limit: self.time_limit,
            memory_limit: self.memory_limit,
            is_training: true,
            world: self.world,
            knob: self.knob.as_ref().map(|knob| knob.name.clone()),
            scratch,
            interrupted: &display.interrupted,
            is_alone: AtomicBool::new(false),
            turns: RwLock::default(),
        })
    }

    /// Runs the script with some remedies, as `snapscope run` does.
    fn run_one(&self, names: &str) -> Result<Output, Failure> {
        let remedies: Vec<&str> = names.split('+').map(str::trim).collect();
        if let Some(unknown) = remedies.iter().find(|name| Remedy::named(name).is_none()) {
            let message = format!("there is no remedy `{unknown}`");
            return Err(Failure::new(message, format!("use names of the table: {}", remedies::names())));
        }
        let display = Display::new(true, None);
        let trials = self.trials(&display)?;
        let script = script_name(&self.command);
        let stem = script.strip_suffix(".py").unwrap_or(&script);
        let output = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.{names}.pickle")));
        let itself = trials.itself(&remedies, &trials.cards, &output);
        let status = Command::new(&itself.program)
            .args(&itself.arguments)
            .args(self.json.then_some("--json"))
            .arg("--")
            .args(&self.command)
            .envs(itself.variables)
            .status()
            .map_err(|error| Failure::new(error.to_string(), "install Snapscope again"))?;
        Ok(Output { status: status.code().and_then(|code| code.try_into().ok()).unwrap_or(3), ..Output::default() })
    }
}

/// Returns the answer in the form that the ending of a file asks for.
fn written(report: &FixReport, file: &Path) -> String {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => svg(report),
        Some("json") => document(report),
        _ => html(report),
    }
}

/// Formats the answer, the remedies and the lines.
fn page(report: &FixReport) -> String {
    let table = table(report);
    let mut page =
        format!("{}\n\n{}", answer(report), text::section(&[vec![table.head], table.rows].concat(), &table.right));
    if !lines(report).is_empty() {
        page += &format!("\nadd\n{}", text::indented(lines(report)));
    }
    for note in notes(report) {
        page += &format!("\nnote: {note}");
    }
    page + "\n"
}
