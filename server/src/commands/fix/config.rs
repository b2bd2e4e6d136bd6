//! Tries the remedies of a training config.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use shared::api::FixReport;
use shared::job::{KeyPlaces, Overrides};

use crate::Failure;
use crate::commands::repro::config::{Written, refuse};
use crate::commands::sweep::AT_ONCE;
use crate::commands::sweep::progress::Display;
use crate::config::RecorderConfig;
use crate::recording::fix::{FixError, fix_config};
use crate::recording::repro::Limits;
use crate::recording::sweep::Settings;
use crate::units;

/// The options of `snapscope fix` that a config takes.
#[derive(Debug, Clone, Args)]
pub(super) struct OfConfig {
    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    training_args: Option<PathBuf>,

    /// Tokens per sample
    #[arg(long, value_name = "N")]
    seq_len: Option<u64>,

    /// Time limit of each recording, such as 90s, 30min or 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = units::time)]
    time_limit: Duration,

    /// Limit on the host memory of each of the two recorders
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = units::size)]
    memory_limit: u64,
}

impl OfConfig {
    /// Records the config with its remedies; `is_quiet` shows no progress.
    ///
    /// # Errors
    ///
    /// Returns an error if the config is wrong, if something that a recording needs is missing, or if the config cannot
    /// be recorded as it is.
    pub(super) fn report(
        &self,
        config: &Path,
        card: Option<String>,
        steps: u64,
        is_quiet: bool,
    ) -> Result<FixReport, Failure> {
        let overrides = Overrides { card, steps: Some(steps), sequence: self.seq_len, ..Overrides::default() };
        let Written { raw, notes, places } = Written::read(config, self.training_args.as_deref(), overrides)?;
        let recorder = RecorderConfig::from_environment()?;
        if !is_quiet {
            eprint!("{}", notes.text());
        }
        let limits = Limits { time: self.time_limit, memory_bytes: self.memory_limit, ..Limits::default() };
        let settings = Settings { limits, at_once: AT_ONCE, keep: None, scratch: None };
        let display = Display::new(is_quiet, None);
        let report = fix_config(&recorder, &raw, &settings, &display);
        display.finish();
        report.map_err(|error| failure(error, config, &places))
    }
}

fn failure(error: FixError, config: &Path, places: &KeyPlaces) -> Failure {
    match error {
        FixError::Config(problems) => refuse(config, &places.locate(problems)),
        FixError::Stopped(failure) => failure,
        FixError::Recording(failure) => Failure::new(failure.message, failure.hint),
    }
}
