//! Runs a script with remedies, each run by a process of its own, so that several can run side by side.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use shared::api::{RunReport, RunsReport};
use shared::job::{Card, Cards};

use super::remedies::Remedy;
use crate::Failure;
use crate::commands::host::kib_of;
use crate::commands::run::{last_line, weight};
use crate::snapshot_file::Opened;

/// Variables with the settings of the allocator: the current one, and that of PyTorch before 2.9, which all versions read.
const ALLOCATOR: [&str; 2] = ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"];

/// Host memory that a run is taken to need.
const MEMORY_OF_RUN: u64 = 4 << 30;

/// Part of a card's memory that is to stay free.
const MARGIN: u64 = 32;

/// Points of a curve.
const POINTS: u32 = 300;

/// What all runs have in common.
pub(super) struct Trials<'a> {
    pub(super) command: &'a [OsString],
    pub(super) cards: Cards,
    pub(super) steps: u64,
    pub(super) time_limit: Duration,
    pub(super) memory_limit: Option<u64>,
    pub(super) is_training: bool,
    /// Name that the user gives for the batch.
    pub(super) knob: Option<String>,
    pub(super) scratch: tempfile::TempDir,
    pub(super) interrupted: &'a AtomicBool,
}

/// A run that has ended.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) run: RunReport,
    /// Highest live bytes in equal parts of the events, of the device where they are highest.
    pub(super) curve: Vec<u64>,
}

impl Trials<'_> {
    /// Runs the script with remedies, on its cards or on larger ones of their kind; leaves the snapshot at `output`.
    pub(super) fn run(&self, remedies: &[&str], is_enlarged: bool, output: &Path) -> Result<Trial, Failure> {
        let margin_bytes = self.margin_bytes();
        let of_run = |card: &Card| match is_enlarged {
            true => card.with_memory(card.memory_bytes * 8),
            // What runs on a card that is smaller by the margin fits with it.
            false => card.with_memory(card.memory_bytes - margin_bytes),
        };
        let cards = Cards(self.cards.0.iter().map(of_run).collect());
        let no_folder = |error: std::io::Error| {
            Failure::new(format!("a temporary folder cannot be used: {error}"), "set TMPDIR to a folder with room")
        };
        let mut said = tempfile::tempfile_in(self.scratch.path()).map_err(no_folder)?;
        let mut child = self
            .command(remedies, &cards, output)
            .arg("--json")
            .arg("--")
            .args(self.command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(said.try_clone().map_err(no_folder)?)
            .spawn()
            .map_err(|error| Failure::new(format!("the program cannot start itself: {error}"), "try again"))?;
        let mut stdout = child.stdout.take().expect("it is piped");
        let document = thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).map(|_| text)
            });
            while !reader.is_finished() {
                if self.interrupted.load(Ordering::Relaxed) {
                    let _ = Pid::from_raw(child.id() as i32).map(|pid| kill_process(pid, Signal::TERM));
                }
                thread::sleep(Duration::from_millis(20));
            }
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let _ = child.wait();
        let report: Option<RunsReport> = document.ok().and_then(|text| serde_json::from_str(&text).ok());
        let said = || last_line(&mut said).unwrap_or_default();
        let runs = report.ok_or_else(said).map(|report| report.runs);
        let runs = runs.map_err(|said| Failure::new(said, "check the command with `snapscope run`"))?;
        let run = runs.into_iter().max_by_key(|run| (weight(run.status), run.peak_reserved_bytes));
        let run = run.expect("a verdict is that of a run");
        let curve = if run.snapshot.is_some() { curve(output) } else { None }.unwrap_or_default();
        Ok(Trial { run, curve })
    }

    /// Returns the memory that is to stay free on each card, in bytes.
    pub(super) fn margin_bytes(&self) -> u64 {
        self.cards.0.iter().map(|card| card.capacity_bytes() / MARGIN).min().unwrap_or(0)
    }

    /// Returns a run with remedies, without the script's own command.
    pub(super) fn command(&self, remedies: &[&str], cards: &Cards, output: &Path) -> Command {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("snapscope"));
        let hooked: Vec<_> = remedies.iter().filter(|name| allocator(name).is_none()).collect();
        let capability = self.cards.0.iter().map(|card| card.capability.major).min();
        let change =
            json!({ "remedies": hooked, "capability": capability, "is_training": self.is_training, "knob": self.knob });
        let mut command = Command::new(own);
        command.args(["run", "--card", &cards.to_string(), "--steps", &self.steps.to_string()]);
        command.args(["--time", &format!("{}s", self.time_limit.as_secs()), "--change", &change.to_string()]);
        command.args(self.memory_limit.map(|bytes| format!("--memory-limit={bytes}B")));
        command.arg("-o").arg(output);
        for setting in remedies.iter().filter_map(|name| allocator(name)) {
            let (name, before) = own_settings();
            command.env(
                name,
                [&*before, setting].iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>().join(","),
            );
        }
        command
    }

    /// Runs several sets of remedies on larger cards, side by side where memory allows; an error ends all.
    pub(super) fn each(
        &self,
        sets: &[Vec<&str>],
        done: impl Fn(&[&str], &Trial) + Sync,
    ) -> Vec<Option<Result<Trial, Failure>>> {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(sets.iter().map(|_| None).collect::<Vec<_>>());
        let work = || {
            while let Some((place, set)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, sets.get(at)?)))
                && !self.interrupted.load(Ordering::Relaxed)
            {
                let output = self.scratch.path().join(format!("{}.pickle", set.join("+")));
                let trial = self.run(set, true, &output);
                let _ = std::fs::remove_file(&output);
                // A run that an interrupt has ended tells nothing.
                if !self.interrupted.load(Ordering::Relaxed) {
                    trial.iter().for_each(|trial| done(set, trial));
                    found.lock().unwrap_or_else(|error| error.into_inner())[place] = Some(trial);
                }
            }
        };
        thread::scope(|scope| (0..at_once()).for_each(|_| drop(scope.spawn(work))));
        found.into_inner().unwrap_or_else(|error| error.into_inner())
    }
}

/// Returns the setting of the allocator that a remedy is.
fn allocator(name: &str) -> Option<&'static str> {
    Remedy::named(name)?.allocator
}

/// Returns the variable with the user's own settings of the allocator, and the settings.
pub(super) fn own_settings() -> (&'static str, String) {
    let set = ALLOCATOR.iter().find_map(|name| Some((*name, std::env::var(name).ok()?)));
    set.unwrap_or((ALLOCATOR[1], String::new()))
}

/// Returns how many runs the processors and the memory allow at once.
fn at_once() -> usize {
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| kib_of(&text, "MemAvailable:"));
    let by_memory = memory.map_or(1, |bytes| (bytes / MEMORY_OF_RUN) as usize);
    thread::available_parallelism().map_or(1, usize::from).min(by_memory).max(1)
}

fn curve(snapshot: &Path) -> Option<Vec<u64>> {
    let opened = Opened::read(snapshot).ok()?;
    let highest = opened.timelines.iter().max_by_key(|timeline| timeline.live_peak().1)?;
    Some(highest.outline(POINTS).live_bytes)
}
