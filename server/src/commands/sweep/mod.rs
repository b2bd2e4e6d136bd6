//! Implements `snapscope sweep`, which records each combination of a config with ranges.

pub(super) mod progress;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use shared::api::SweepReport;
use shared::base::format::counted;
use shared::job::{Overrides, RawJob, RawSweep, Sweep, Values};
use shared::recordings::{self, Table};

use super::output::document;
use super::repro::check_output;
use super::repro::config::{Written, refuse};
use super::text;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::Limits;
use crate::recording::sweep::{self, Settings, record_all};
use crate::units;
use progress::Display;

/// Number of simultaneous recordings; each has one busy thread.
pub(super) const AT_ONCE: usize = 2;

/// Writes the result of a sweep of recordings with a number of steps.
type Writer = fn(&SweepReport, u64) -> String;

/// The endings of result files.
const FORMATS: [(&str, Writer); 4] = [
    ("md", |report, steps| recordings::table(report, steps).markdown()),
    ("csv", |report, _| recordings::sweep_csv(report)),
    ("json", |report, _| document(report)),
    ("svg", recordings::svg),
];

/// The options of `snapscope sweep`.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`
    config: PathBuf,

    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    training_args: Option<PathBuf>,

    /// Virtual GPUs, such as t4-16gb,a100-40gb
    #[arg(long, value_name = "CARDS", value_parser = Values::<String>::parse)]
    card: Option<Values<String>>,

    /// Number formats, such as fp32,autocast-bf16
    #[arg(long, value_name = "FORMATS", value_parser = Values::<String>::parse)]
    precision: Option<Values<String>>,

    /// Activation checkpointing, such as on,off
    #[arg(long, value_name = "SWITCHES", value_parser = Values::<bool>::parse)]
    checkpointing: Option<Values<bool>>,

    /// Tokens per sample, such as 512..4096x2
    #[arg(long, value_name = "NUMBERS", value_parser = Values::<u64>::parse)]
    seq_len: Option<Values<u64>>,

    /// Samples per micro-batch, such as 1,2,4,8 or 1..8x2 or 16..64+16
    #[arg(long, value_name = "NUMBERS", value_parser = Values::<u64>::parse)]
    batch: Option<Values<u64>>,

    /// Number of optimizer steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// Also write the result to a .md, .csv, .json or .svg file; may be repeated
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Keep the snapshots in this folder instead of deleting them
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Time limit of each recording, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory of each of the two recorders
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = units::size)]
    memory_limit: u64,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,
}

impl SweepArgs {
    /// Records every combination and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        let writers: Vec<Writer> = self.output.iter().map(|path| self.writer(path)).collect::<Result<_, _>>()?;
        let overrides = Overrides { steps: self.steps, ..Overrides::default() };
        let Written { raw, notes, places } = Written::read(&self.config, self.training_args.as_deref(), overrides)?;
        let name = raw.name.clone().unwrap_or_default();
        let wrong = |problems| refuse(&self.config, &places.locate(problems));
        let sweep = self.with_ranges(raw).into_sweep().map_err(wrong)?;
        let settings = self.settings(&sweep)?;
        let recorder = RecorderConfig::from_environment()?;
        if !self.json {
            eprint!("{}", notes.text());
        }
        let display = Display::new(self.json, Some(sweep.combinations.len()));
        let outcomes = record_all(&recorder, &sweep, &settings, &display);
        display.finish();
        let outcomes = outcomes?;
        if let Some(Err(first)) = outcomes.first().filter(|_| outcomes.iter().all(Result::is_err)) {
            // Most likely all failed for the same reason.
            return Err(Failure::new(first.message.clone(), first.hint.clone()));
        }
        let report = sweep::report(&name, &sweep, &outcomes);
        let steps = sweep.combinations.first().map_or(0, |combination| combination.job.steps);
        for (path, writer) in self.output.iter().zip(writers) {
            std::fs::write(path, writer(&report, steps)).map_err(|error| {
                Failure::new(format!("{} cannot be written: {error}", path.display()), "choose another path")
            })?;
        }
        if self.json {
            return Ok(document(&report));
        }
        let (answer, subtitle) = (recordings::sweep::answer(&report), subtitle(&name, &sweep));
        Ok(format!("{answer}\n{subtitle}\n\n{}", self.page(&recordings::table(&report, steps))))
    }

    /// Takes the format of a file of `--output` from its ending, after checking that it is not the config.
    fn writer(&self, path: &Path) -> Result<Writer, Failure> {
        let end = path.extension().unwrap_or_default().to_ascii_lowercase();
        let Some((_, writer)) = FORMATS.into_iter().find(|(name, _)| end == *name) else {
            return Err(Failure::new(
                format!("the name `{}` has no known file type", path.display()),
                "end the name in .md, .csv, .json or .svg",
            ));
        };
        if path.canonicalize().is_ok_and(|path| self.config.canonicalize().is_ok_and(|config| path == config)) {
            let message = format!("{} is the config itself", path.display());
            return Err(Failure::new(message, "choose another file with --output"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::new(format!("there is no folder {}", folder.display()), "create it first"));
        }
        Ok(writer)
    }

    /// Formats the table and the paths of what was written.
    fn page(&self, Table { head, rows, right }: &Table) -> String {
        let lines = text::section(&[vec![head.clone()], rows.clone()].concat(), right);
        let written = self.output.iter().map(|path| format!("wrote {}\n", path.display()));
        let kept = self.keep.as_ref().map(|folder| format!("the snapshots are in {}\n", folder.display()));
        let notes: String = written.chain(kept).collect();
        let gap = if notes.is_empty() { "" } else { "\n" };
        format!("{lines}{gap}{notes}")
    }

    /// Replaces the config's ranges by those of the command line.
    fn with_ranges(&self, mut raw: RawJob) -> RawJob {
        let written = raw.sweep.take().unwrap_or_default();
        let sweep = RawSweep {
            card: self.card.clone().or(written.card),
            precision: self.precision.clone().or(written.precision),
            checkpointing: self.checkpointing.clone().or(written.checkpointing),
            sequence: self.seq_len.clone().or(written.sequence),
            batch: self.batch.clone().or(written.batch),
        };
        RawJob { sweep: Some(sweep), ..raw }
    }

    fn settings(&self, sweep: &Sweep) -> Result<Settings, Failure> {
        let limits = Limits { time: self.time_limit, memory_bytes: self.memory_limit, ..Limits::default() };
        let settings = Settings { limits, at_once: AT_ONCE, keep: self.keep.clone(), scratch: None };
        if let Some(folder) = &self.keep {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::new(format!("{} cannot be created: {error}", folder.display()), "choose another folder")
            })?;
        }
        let kept = sweep.combinations.iter().filter_map(|combination| settings.kept(sweep, combination));
        { kept }.try_for_each(|path| check_output(&path))?;
        Ok(settings)
    }
}

/// Formats what all combinations have in common.
fn subtitle(name: &str, sweep: &Sweep) -> String {
    let job = sweep.combinations.first().map(|combination| &combination.job);
    let card = job.filter(|_| sweep.axes.iter().all(|axis| axis.name != "card"));
    let card = card.map(|job| job.to_raw()).and_then(|raw| raw.card.or(raw.device));
    let parameters = job.map(|job| counted(job.parameters(), "parameter"));
    let steps = job.map(|job| format!("{} each", counted(job.steps, "step")));
    let recordings = counted(sweep.combinations.len() as u64, "recording");
    let parts = card.into_iter().chain([name.to_owned()]).chain(parameters).chain([recordings]).chain(steps);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
