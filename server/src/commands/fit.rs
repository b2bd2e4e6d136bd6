//! Implements `snapscope fit`, which finds the largest batch that fits a card and proves it by recordings.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use shared::api::{FitProbe, FitReport};
use shared::base::format::{bytes, count, counted};
use shared::job::{KeyPlaces, Overrides};

use super::repro::config::{Written, refuse};
use super::sweep::progress::Display;
use super::text;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::{Limits, place};
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
        let found = fit(&recorder, &raw, &limits, &display);
        display.finish();
        let found = found.map_err(|error| self.failure(error, &places))?;
        let report = found.report();
        if self.json {
            return Ok(serde_json::to_string_pretty(&report).expect("plain data can be written") + "\n");
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

fn answer(report: &FitReport) -> String {
    match report.batch {
        Some(batch) => format!("Batch {} is the largest that fits", count(batch)),
        None => "No batch fits".to_owned(),
    }
}

/// Returns a row for the largest batch that fits and a row for the next larger batch that does not.
fn proof(report: &FitReport, steps: u64) -> Vec<Vec<String>> {
    let fitting = report.probes.iter().find(|probe| Some(probe.batch) == report.batch);
    let failing = report.probes.iter().find(|probe| probe.batch > report.batch.unwrap_or(0));
    let row = |probe: &FitProbe, text: String| vec!["batch".to_owned(), count(probe.batch), text];
    let fits = |probe: &FitProbe| {
        let peak = probe.peak_reserved_bytes;
        let memory = report
            .memory_bytes
            .map(|memory| format!(" of {}, {} free", bytes(memory), bytes(memory.saturating_sub(peak))));
        row(probe, format!("fits: peak reserved {}{}", bytes(peak), memory.unwrap_or_default()))
    };
    let fails = |probe: &FitProbe| {
        let place = probe.oom.as_ref().map(|oom| place(oom.step, Some(steps), &oom.phase, &oom.module));
        let place = place.filter(|place| !place.is_empty()).map(|place| format!(" in {place}"));
        let asked = probe.oom.as_ref().and_then(|oom| asked(&oom.message)).map(|asked| format!(", allocating {asked}"));
        row(probe, format!("runs out of memory{}{}", place.unwrap_or_default(), asked.unwrap_or_default()))
    };
    fitting.map(fits).into_iter().chain(failing.map(fails)).collect()
}

/// Extracts the requested size from PyTorch's message: `Tried to allocate 1.53 GiB. GPU 0 has …`.
fn asked(message: &str) -> Option<String> {
    let rest = message.split_once("Tried to allocate ")?.1;
    let words: Vec<&str> = rest.split_whitespace().take(2).collect();
    (words.len() == 2).then(|| words.join(" ").trim_end_matches('.').to_owned())
}

/// Returns the caveats of the answer.
fn notes(report: &FitReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(limit) = report.limit {
        notes.push(format!("batch {} is the largest that this program accepts for this config", count(limit)));
    }
    if !report.gaps.is_empty() {
        let gaps: Vec<String> = report.gaps.iter().map(|&gap| count(gap)).collect();
        notes.push(format!(
            "batch {} ran out of memory although a larger batch fits: memory is fragmented, so other smaller batches \
             may fail too",
            gaps.join(", ")
        ));
    }
    let fitting = report.probes.iter().find(|probe| Some(probe.batch) == report.batch);
    notes.extend(fitting.into_iter().flat_map(|probe| probe.messages.iter().cloned()));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_was_asked_for() {
        let message = "CUDA out of memory. Tried to allocate 1.53 GiB. GPU 0 has a total capacity of 14.58 GiB";
        assert_eq!(asked(message).as_deref(), Some("1.53 GiB"));
        assert_eq!(asked("CUDA out of memory"), None);
    }

    #[test]
    fn odd_answers_are_explained() {
        let probe = |batch| FitProbe {
            batch,
            peak_allocated_bytes: 0,
            peak_reserved_bytes: 1 << 30,
            oom: None,
            messages: Vec::new(),
        };
        let report = FitReport {
            name: "small".into(),
            card: "custom:2GiB".into(),
            memory_bytes: Some(2 << 30),
            batch: Some(16),
            limit: Some(16),
            gaps: vec![12, 14],
            probes: vec![probe(16)],
        };
        let page = page(&report, 10, 2);
        assert!(page.contains("Batch 16 is the largest that fits"), "{page}");
        assert!(page.contains("fits: peak reserved 1.00 GiB of 2.00 GiB, 1.00 GiB free"), "{page}");
        assert!(page.contains("batch 12, 14 ran out of memory although"), "{page}");
        assert!(page.contains("batch 16 is the largest that this program accepts"), "{page}");
    }
}
