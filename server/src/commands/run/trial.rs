//! Runs a command for other commands, which try several: nothing is shown, and only the figures stay.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use shared::api::RunReport;
use shared::job::Cards;
use tempfile::TempDir;

use super::keep::{Limits, most_of_machine};
use super::launch::{Launch, check_platform};
use super::sharing::Shared;
use super::{cards, page, verdict};
use crate::Failure;
use crate::commands::itself::content;
use crate::commands::text::cut;
use crate::config::ScriptConfig;
use crate::folder::make_temporary;

/// Most bytes that a command may write to the disk.
const MOST_WRITTEN: u64 = 64 << 30;

/// Most characters of a line of the command that are quoted.
const MOST_LINE: usize = 200;

pub(in crate::commands) struct Trials {
    config: ScriptConfig,
    pub(in crate::commands) cards: Cards,
    steps: u64,
    limits: Limits,
    /// Has the socket of the process that imports PyTorch once for all trials.
    folder: TempDir,
    /// That process, started with the first trial.
    shared: OnceLock<Option<Shared>>,
}

impl Trials {
    /// Prepares trials; without a limit on the host memory, nine tenths of this machine's.
    pub(in crate::commands) fn new(
        card: &str,
        steps: u64,
        time: Duration,
        memory_bytes: Option<u64>,
    ) -> Result<Self, Failure> {
        check_platform()?;
        let cards = cards::read(card)?;
        let memory_bytes = memory_bytes.unwrap_or_else(most_of_machine);
        let limits = Limits { time, is_time_asked: false, memory_bytes, disk_bytes: MOST_WRITTEN };
        let folder = make_temporary("snapscope-trial-", None).map_err(|error| Failure::temporary(&error))?;
        let config = ScriptConfig::from_environment()?;
        Ok(Self { config, cards, steps, limits, folder, shared: OnceLock::new() })
    }

    /// Runs a command and returns the report of the process that decides.
    pub(in crate::commands) fn run(
        &self,
        command: &[OsString],
        interrupted: &AtomicBool,
    ) -> Result<RunReport, Failure> {
        let socket = self.folder.path().join("shared");
        let shared = self.shared.get_or_init(|| Shared::start(&self.config, &self.cards, command, &socket));
        let scratch = make_temporary("snapscope-trial-", None).map_err(|error| Failure::temporary(&error))?;
        let mut said = tempfile::tempfile_in(scratch.path()).map_err(|error| Failure::temporary(&error))?;
        let output = scratch.path().join("trial.pickle");
        // The figures are counted by PyTorch and not read from the history.
        let launch = Launch {
            steps: Some(self.steps),
            said: Some(&said),
            hook_options: &[("shared".to_owned(), json!(socket))],
            aside: shared.as_ref().map(Shared::id),
            ..Launch::of(&self.config, &self.cards, command, &output, self.limits)
        };
        let ran = verdict::judge(&self.cards, &launch.run(interrupted)?);
        let mut run = page::decisive(&ran).cloned().expect("a verdict is that of a run");
        if let Some(message) = run.message.as_mut().filter(|message| message.contains("exit status")) {
            // A program that refuses its arguments says so and raises nothing.
            let printed = content(&mut said);
            let lines = String::from_utf8_lossy(&printed);
            let last = lines.lines().map(str::trim).rfind(|line| !line.is_empty());
            message.extend(last.map(|line| format!(": {}", cut(line, MOST_LINE))));
        }
        Ok(run)
    }
}
