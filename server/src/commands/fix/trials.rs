//! Runs a script with remedies, each run by a process of its own, so that several can run side by side.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use shared::api::{RunReport, RunsReport};
use shared::job::{Card, Cards};

use super::remedies::Remedy;
use crate::Failure;
use crate::commands::host::of_machine;
use crate::commands::itself::Itself;
use crate::commands::run::{KILLED, Shared, weight};
use crate::config::{ALLOCATOR, ScriptConfig};
use crate::snapshot_file::Opened;

/// Host memory that a run is taken to need.
const MEMORY_OF_RUN: u64 = 4 << 30;

/// Part of a card's memory that is to stay free.
const MARGIN: u64 = 32;

const POINTS: u32 = 300;

/// What all runs have in common.
pub(super) struct Trials<'a> {
    pub(super) config: ScriptConfig,
    pub(super) command: &'a [OsString],
    pub(super) cards: Cards,
    pub(super) steps: u64,
    pub(super) time_limit: Duration,
    pub(super) memory_limit: Option<u64>,
    pub(super) is_training: bool,
    /// Ranks of the script, of which the first one runs.
    pub(super) world: Option<u64>,
    /// Name that the user gives for the batch.
    pub(super) knob: Option<String>,
    pub(super) scratch: tempfile::TempDir,
    pub(super) interrupted: &'a AtomicBool,
    /// True once runs side by side were too much for this machine.
    pub(super) is_alone: AtomicBool,
    /// Shared by runs side by side, and held by one that is alone.
    pub(super) turns: RwLock<()>,
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
    ///
    /// Once a run was killed beside another one, as when memory runs out, or both wanted the same port, as launchers do,
    /// it and all later ones run alone.
    pub(super) fn run(&self, remedies: &[&str], is_enlarged: bool, output: &Path) -> Result<Trial, Failure> {
        if !self.is_alone.load(Ordering::Relaxed) {
            let _turn = self.turns.read();
            let trial = self.run_now(remedies, is_enlarged, output)?;
            let wants_port = |message: &String| message.to_lowercase().contains("address already in use");
            let is_crowded = trial.run.exit_status == Some(KILLED) || trial.run.message.iter().any(wants_port);
            if !is_crowded || at_once() == 1 || self.interrupted.load(Ordering::Relaxed) {
                return Ok(trial);
            }
            self.is_alone.store(true, Ordering::Relaxed);
        }
        let _turn = self.turns.write();
        self.run_now(remedies, is_enlarged, output)
    }

    fn run_now(&self, remedies: &[&str], is_enlarged: bool, output: &Path) -> Result<Trial, Failure> {
        let margin_bytes = self.margin_bytes();
        let of_run = |card: &Card| match is_enlarged {
            true => card.with_memory(card.memory_bytes * 8),
            // What runs on a card that is smaller by the margin fits with it.
            false => card.with_memory(card.memory_bytes - margin_bytes),
        };
        let cards = Cards(self.cards.0.iter().map(of_run).collect());
        let itself = Itself { is_quiet: true, ..self.itself(remedies, &cards, output) };
        let mut itself =
            Itself { arguments: [itself.arguments, vec!["--json".into(), "--".into()]].concat(), ..itself };
        itself.arguments.extend_from_slice(self.command);
        let (report, said): (RunsReport, String) = itself.told(|child| {
            if self.interrupted.load(Ordering::Relaxed) {
                let _ = Pid::from_raw(child.id() as i32).map(|pid| kill_process(pid, Signal::TERM));
            }
        })?;
        if self.world.is_some() {
            let _ = std::fs::rename(output.with_extension("rank0.pickle"), output);
        }
        let run = report.runs.into_iter().max_by_key(|run| (weight(run.status), run.peak_reserved_bytes));
        let mut run = run.expect("a verdict is that of a run");
        if let Some(message) =
            run.message.as_mut().filter(|message| !said.is_empty() && message.contains("exit status"))
        {
            // A program that refuses its arguments says so and raises nothing.
            *message += &format!(": {said}");
        }
        let curve = if run.snapshot.is_some() { curve(output) } else { None }.unwrap_or_default();
        Ok(Trial { run, curve })
    }

    /// Starts the process that imports PyTorch once for all runs, see [`Shared::start`].
    pub(super) fn share(&self) -> Option<Shared> {
        if self.world.is_some() {
            return None;
        }
        Shared::start(&self.config, &self.cards, self.command, &self.socket())
    }

    /// Returns the socket at which the shared process waits.
    fn socket(&self) -> PathBuf {
        self.scratch.path().join("shared")
    }

    /// Returns the memory that is to stay free on each card, in bytes.
    pub(super) fn margin_bytes(&self) -> u64 {
        self.cards.0.iter().map(|card| card.capacity_bytes() / MARGIN).min().unwrap_or(0)
    }

    /// Returns a run with remedies, without the script's own command.
    pub(super) fn itself(&self, remedies: &[&str], cards: &Cards, output: &Path) -> Itself {
        let (settings, hooked): (Vec<&str>, Vec<&str>) = remedies.iter().partition(|name| allocator(name).is_some());
        let capability = self.cards.0.iter().map(|card| card.capability.major).min();
        let change = json!({
            "remedies": hooked,
            "capability": capability,
            "is_training": self.is_training,
            "knob": self.knob,
            "shared": self.socket(),
        });
        let mut arguments: Vec<OsString> = ["run", "--card"].map(OsString::from).to_vec();
        arguments.extend([cards.to_string(), format!("--steps={}", self.steps)].map(OsString::from));
        arguments.extend(
            [format!("--time={}s", self.time_limit.as_secs()), format!("--change={change}")].map(OsString::from),
        );
        arguments.extend(self.memory_limit.map(|bytes| format!("--memory-limit={bytes}B").into()));
        arguments.extend(self.world.iter().flat_map(|world| [format!("--world={world}").into(), "--ranks=0".into()]));
        arguments.extend(["-o".into(), output.into()]);
        let variable = self.allocator_variable(settings.into_iter().filter_map(allocator));
        let variables = variable.map(|(name, text)| (name.into(), text.into())).into_iter().collect();
        Itself { arguments, variables, ..Itself::new(&self.config, Path::new(".")) }
    }

    /// Returns the variable that adds settings of the allocator to the user's own; `None` without any.
    pub(super) fn allocator_variable<'b>(
        &self,
        settings: impl Iterator<Item = &'b str>,
    ) -> Option<(&'static str, String)> {
        let mut own = ALLOCATOR.iter().filter_map(|name| Some((*name, self.config.own(name)?.to_string_lossy())));
        let (name, own) = own.next().unwrap_or((ALLOCATOR[1], "".into()));
        let all = settings
            .fold(own.to_string(), |all, one| if all.is_empty() { one.to_owned() } else { format!("{all},{one}") });
        (all != own).then_some((name, all))
    }

    /// Runs several sets of remedies, side by side where memory allows; see [`run`](Self::run).
    pub(super) fn each(
        &self,
        sets: &[Vec<&str>],
        is_enlarged: bool,
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
                let trial = self.run(set, is_enlarged, &output);
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

/// Returns how many runs the processors and the memory allow at once.
fn at_once() -> usize {
    let by_memory = of_machine("MemAvailable:").map_or(1, |bytes| (bytes / MEMORY_OF_RUN) as usize);
    thread::available_parallelism().map_or(1, usize::from).min(by_memory).max(1)
}

fn curve(snapshot: &Path) -> Option<Vec<u64>> {
    let opened = Opened::read(snapshot).ok()?;
    let highest = opened.timelines.iter().max_by_key(|timeline| timeline.live_peak().1)?;
    Some(highest.outline(POINTS).live_bytes)
}
