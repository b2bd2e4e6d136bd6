//! Runs a command for other commands, which try several: nothing is shown, and only the figures stay.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use shared::api::RunReport;
use shared::job::Cards;
use tempfile::TempDir;

use super::keep::Limits;
use super::launch::{Assumptions, Launch, check_platform};
use super::sharing::Shared;
use super::{bounds, cards, page, verdict};
use crate::Failure;
use crate::commands::text::cut;
use crate::config::ScriptConfig;
use crate::folder::make_temporary;

/// Most bytes that a command may write to the disk.
const MOST_WRITTEN: u64 = 64 << 30;

/// Most characters of a line of the command that are quoted.
const MOST_LINE: usize = 200;

/// What all trials of a command have in common.
pub(in crate::commands) struct Trials {
    config: ScriptConfig,
    pub(in crate::commands) cards: Cards,
    /// Optimizer steps of each trial.
    steps: u64,
    limits: Limits,
    /// Has the socket of the process that imports PyTorch once for all trials.
    folder: TempDir,
    /// That process, started with the first trial.
    shared: OnceLock<Option<Shared>>,
}

impl Trials {
    /// Prepares trials; without a limit on the host memory, nine tenths of this machine's.
    ///
    /// # Errors
    ///
    /// Returns an error if the virtual GPU does not serve this platform or is missing, or if there is no room for
    /// temporary files.
    pub(in crate::commands) fn new(
        card: &str,
        steps: u64,
        time: Duration,
        memory_bytes: Option<u64>,
    ) -> Result<Self, Failure> {
        check_platform()?;
        let cards = cards::read(card)?;
        let memory_bytes = memory_bytes.unwrap_or_else(|| bounds::machine_bytes() / 10 * 9);
        let limits = Limits { time, is_time_asked: false, memory_bytes, disk_bytes: MOST_WRITTEN };
        let folder = make_temporary("snapscope-trial-", None).map_err(no_folder)?;
        let config = ScriptConfig::from_environment()?;
        Ok(Self { config, cards, steps, limits, folder, shared: OnceLock::new() })
    }

    /// Runs a command and returns the report of the process that decides.
    ///
    /// # Errors
    ///
    /// Returns an error if the command cannot be started.
    pub(in crate::commands) fn run(
        &self,
        command: &[OsString],
        interrupted: &AtomicBool,
    ) -> Result<RunReport, Failure> {
        let socket = self.folder.path().join("shared");
        let shared = self.shared.get_or_init(|| Shared::start(&self.config, &self.cards, command, &socket));
        let scratch = make_temporary("snapscope-trial-", None).map_err(no_folder)?;
        let mut said = tempfile::tempfile_in(scratch.path()).map_err(no_folder)?;
        let launch = Launch {
            config: &self.config,
            cards: &self.cards,
            command,
            output: &scratch.path().join("trial.pickle"),
            steps: Some(self.steps),
            // The figures are counted by PyTorch and not read from the history.
            max_events: 1,
            limits: self.limits,
            assumptions: Assumptions { is_any: true, new_tokens: None },
            is_quiet: true,
            sandbox: None,
            said: Some(&said),
            variables: &[],
            ranks: &[],
            hook_options: &[("shared".to_owned(), json!(socket))],
            aside: shared.as_ref().map(Shared::id),
        };
        let ran = verdict::judge(&self.cards, &launch.run(interrupted)?);
        let mut run = page::decisive(&ran).cloned().expect("a verdict is that of a run");
        if let Some(message) = run.message.as_mut().filter(|message| message.contains("exit status")) {
            // A program that refuses its arguments says so and raises nothing.
            message.extend(lines_of(&mut said).last().map(|line| format!(": {}", cut(line, MOST_LINE))));
        }
        Ok(run)
    }
}

fn no_folder(error: io::Error) -> Failure {
    Failure::new(format!("a temporary folder cannot be made: {error}"), "set TMPDIR to a folder with room")
}

/// Returns the lines that a command printed, without blank ones; none if they cannot be read back.
fn lines_of(said: &mut File) -> Vec<String> {
    let mut bytes = Vec::new();
    let _ = said.rewind().and_then(|()| said.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
