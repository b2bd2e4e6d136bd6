//! Tries the remedies of a training config.

use std::path::{Path, PathBuf};

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

/// The options of `snapscope fix` that a config takes.
#[derive(Debug, Clone, Args)]
pub(super) struct OfConfig {
    /// The `TrainingArguments` of a Hugging Face config, in JSON or YAML
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    training_args: Option<PathBuf>,

    /// Tokens per sample of a config
    #[arg(long, value_name = "N", conflicts_with = "command")]
    seq_len: Option<u64>,
}

impl OfConfig {
    /// Records the config with its remedies.
    pub(super) fn report(
        &self,
        config: &Path,
        overrides: Overrides,
        limits: Limits,
        is_quiet: bool,
        display: &Display,
    ) -> Result<FixReport, Failure> {
        let overrides = Overrides { sequence: self.seq_len, ..overrides };
        let Written { raw, notes, places } = Written::read(config, self.training_args.as_deref(), overrides)?;
        let recorder = RecorderConfig::from_environment()?;
        if !is_quiet {
            eprint!("{}", notes.text());
        }
        let settings = Settings { limits, at_once: AT_ONCE, keep: None, scratch: None };
        fix_config(&recorder, &raw, &settings, display).map_err(|error| failure(error, config, &places))
    }
}

fn failure(error: FixError, config: &Path, places: &KeyPlaces) -> Failure {
    match error {
        FixError::Config(problems) => refuse(config, &places.locate(problems)),
        FixError::Stopped(failure) => failure,
        FixError::Recording(failure) => Failure::new(failure.message, failure.hint),
    }
}
