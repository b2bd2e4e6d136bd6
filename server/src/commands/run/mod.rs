//! Implements `snapscope run`, which runs any Python script on virtual GPUs and says whether it fits.

mod bounds;
mod cards;
mod check;
mod figures;
mod folder;
mod keep;
mod launch;
mod log;
mod options;
mod page;
mod processes;
mod reported;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use shared::api::{RunReport, RunStatus, RunsReport};
use shared::job::Cards;

use crate::Failure;
use crate::config::ScriptConfig;
use launch::Launch;

pub(super) use launch::shown;
pub use options::RunArgs;

/// Text for standard output, and the exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutput {
    pub text: String,
    /// 0 if the script fits, 1 if memory runs out, 2 if something is not supported, 3 if the script failed.
    pub status: u8,
}

impl RunArgs {
    /// Runs the script on each card and returns the verdict.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is wrong, if the virtual GPU is missing here, or if the command cannot be started.
    pub fn run(&self) -> Result<RunOutput, Failure> {
        launch::check_platform()?;
        let config = ScriptConfig::from_environment()?;
        let interrupted = super::repro::progress::interrupted();
        if self.check {
            return check::run(self, &config, &interrupted);
        }
        let machines = cards::choose(self)?;
        let script = Script { args: self, config: &config, interrupted: &interrupted, is_one: machines.len() == 1 };
        let found = if self.fit { cards::smallest(&script, &machines)? } else { cards::each(&script, &machines)? };
        let status = found.iter().map(|ran| ran.status).max_by_key(|status| cards::weight(*status));
        let status = if self.fit { cards::answer(&found) } else { status.unwrap_or(RunStatus::Failed) };
        let text = if self.json { document(found) } else { page::all(self, &found) };
        Ok(RunOutput { text, status: status.exit_status() })
    }
}

fn document(found: Vec<Ran>) -> String {
    let report = RunsReport { runs: found.into_iter().flat_map(|ran| ran.runs).collect() };
    serde_json::to_string_pretty(&report).expect("plain data can be written") + "\n"
}

/// What all runs of a command have in common.
struct Script<'a> {
    args: &'a RunArgs,
    config: &'a ScriptConfig,
    interrupted: &'a Arc<AtomicBool>,
    /// True if the script runs on one machine only, whose snapshot then has the plain name.
    is_one: bool,
}

/// A run of the script on one machine.
struct Ran {
    cards: Cards,
    /// Status of all processes together.
    status: RunStatus,
    /// One for each process that used CUDA, or else one for the script.
    runs: Vec<RunReport>,
    /// Line that first called a function that is not modeled, by the function.
    callers: BTreeMap<String, String>,
    /// Reason why the values of the script were not followed.
    without_values: Option<String>,
    /// Last lines of the virtual GPU's log, if the script failed.
    log: Vec<String>,
}

impl Script<'_> {
    /// Runs the script on a machine with these cards.
    fn run_on(&self, cards: &Cards) -> Result<Ran, Failure> {
        let output = self.output(cards);
        bounds::check_output(&output)?;
        let launch = Launch {
            config: self.config,
            cards,
            command: &self.args.command,
            output: &output,
            steps: self.args.steps,
            limits: self.args.limits(),
            assumptions: self.args.assumptions(),
            is_quiet: self.args.json,
        };
        let ended = launch.run(self.interrupted)?;
        Ok(verdict::judge(cards, &ended))
    }

    /// Returns the snapshot file of a machine: with the cards in its name if there are several machines.
    fn output(&self, cards: &Cards) -> PathBuf {
        let output = self.args.output();
        if self.is_one {
            return output;
        }
        let name = cards.to_string().replace([' ', ':', ','], "-");
        let suffix = output.extension().map_or_else(String::new, |suffix| format!(".{}", suffix.to_string_lossy()));
        let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        output.parent().unwrap_or(Path::new("")).join(format!("{stem}.{name}{suffix}"))
    }
}
