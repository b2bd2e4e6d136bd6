//! Holds the state that all jobs of a worker share, with its settings and its metrics.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use shared::base::format::bytes;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::warn;
use uuid::Uuid;

use super::turns::Turns;
use crate::config::RecorderConfig;
use crate::database::Database;
use crate::failure::Failure;
use crate::recording::repro::Limits;
use crate::scratch::Scratch;
use crate::store::Store;

/// State that all jobs of a worker share.
#[derive(Debug)]
pub struct Context {
    /// Name that no other worker has or had.
    pub(super) name: String,
    pub(super) database: Database,
    pub(super) store: Store,
    pub(super) recorder: RecorderConfig,
    pub(super) settings: WorkerSettings,
    /// Becomes true when running jobs must be given back.
    pub(super) give_back: watch::Sender<bool>,
    /// Decides which jobs may run side by side.
    pub(super) turns: Turns,
    pub(super) running: AtomicUsize,
    pub(super) metrics: RecorderMetrics,
    /// Reasons why nothing can be recorded on a kind of device.
    problems: Mutex<HashMap<String, String>>,
    scratch: Scratch,
}

impl Context {
    /// Makes the state of a worker that has not started.
    pub fn new(
        database: Database,
        store: Store,
        settings: WorkerSettings,
        recorder: RecorderConfig,
    ) -> Result<Self, Failure> {
        let scratch = Scratch::open(&settings.scratch).map_err(|error| {
            Failure::new(
                format!("recordings can't be written in {}: {error}", settings.scratch.display()),
                "pass a folder with write permission with --data",
            )
        })?;
        Ok(Self {
            name: Uuid::now_v7().simple().to_string(),
            database,
            store,
            recorder,
            turns: Turns::new(settings.slots.iter().map(|slots| slots.jobs).sum()),
            settings,
            give_back: watch::Sender::new(false),
            running: AtomicUsize::new(0),
            metrics: RecorderMetrics::default(),
            problems: Mutex::default(),
            scratch,
        })
    }

    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Records in the database that this worker is alive and which kinds it serves.
    pub async fn show(&self) -> crate::database::Result<()> {
        for slots in &self.settings.slots {
            let problem = self.problems().get(&slots.kind).cloned();
            self.database.worker_is_here(&self.name, &slots.kind, slots.jobs, problem.as_deref()).await?;
        }
        Ok(())
    }

    /// Records whether a kind of device can be used, and why not, in the database too.
    pub(super) async fn note_problem(&self, kind: &str, problem: Option<String>) {
        match problem {
            Some(problem) => drop(self.problems().insert(kind.to_owned(), problem)),
            None => drop(self.problems().remove(kind)),
        }
        if let Err(error) = self.show().await {
            warn!(%error, "this worker can't announce itself to others");
        }
    }

    fn problems(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    pub fn metrics(&self) -> &RecorderMetrics {
        &self.metrics
    }

    /// Waits for running jobs for the grace period, then has them given back.
    pub async fn wind_down(&self, mut jobs: JoinHandle<()>) {
        if tokio::time::timeout(self.settings.grace, &mut jobs).await.is_ok() {
            return;
        }
        warn!(jobs = self.running(), "returning the running jobs to the queue");
        self.give_back.send_replace(true);
        let end = self.settings.limits.grace + self.settings.lease;
        // Other workers find the jobs that are still running after that.
        let _ = tokio::time::timeout(end, jobs).await;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Number of simultaneous jobs for each kind of device.
    pub slots: Vec<Slots>,
    /// The Python that runs scripts from strangers; `None` if none may run.
    pub scripts: Option<PathBuf>,
    pub limits: Limits,
    /// Folder for recordings and uploads before they are stored.
    pub scratch: PathBuf,
    /// Time without a sign of life after which a worker's jobs are given to others.
    pub lease: Duration,
    /// Time for which running jobs may continue after a signal to stop, before they are given back.
    pub grace: Duration,
}

/// Number of simultaneous jobs for a kind of device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `virtual`, a device such as `cuda:0`, or `script`.
    pub kind: String,
    pub jobs: usize,
}

impl fmt::Display for WorkerSettings {
    /// Writes one line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs: Vec<_> = self.slots.iter().map(|slots| format!("{}={}", slots.kind, slots.jobs)).collect();
        let jobs = if jobs.is_empty() { "none here".to_owned() } else { jobs.join(", ") };
        writeln!(f, "simultaneous jobs: {jobs}")?;
        let scripts = self.scripts.as_ref().map_or_else(|| "refused".to_owned(), |python| python.display().to_string());
        writeln!(f, "scripts: {scripts}")?;
        writeln!(f, "job time: {} s", self.limits.time.as_secs_f64())?;
        writeln!(f, "job memory: {}", bytes(self.limits.memory_bytes))?;
        writeln!(f, "lease: {} s", self.lease.as_secs_f64())?;
        writeln!(f, "grace: {} s", self.grace.as_secs_f64())
    }
}

/// Upper bounds in seconds, from the smallest model to the default time limit of a job.
const SECONDS: [f64; 9] = [0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 240.0, 900.0, 1800.0];

/// Upper bounds in bytes of host memory.
const BYTES: [f64; 7] = [GIB / 4.0, GIB / 2.0, GIB, 2.0 * GIB, 4.0 * GIB, 8.0 * GIB, 16.0 * GIB];
const GIB: f64 = (1_u64 << 30) as f64;

#[derive(Debug)]
pub struct RecorderMetrics {
    outcomes: Family<[(&'static str, &'static str); 1], Counter>,
    seconds: Histogram,
    memory_bytes: Histogram,
}

impl Default for RecorderMetrics {
    fn default() -> Self {
        Self { outcomes: Family::default(), seconds: Histogram::new(SECONDS), memory_bytes: Histogram::new(BYTES) }
    }
}

impl RecorderMetrics {
    pub fn register(&self, registry: &mut Registry) {
        let help = "Recordings started by this process, by outcome";
        registry.register("recordings", help, self.outcomes.clone());
        let help = "Time from the start of a recorder to its end";
        registry.register_with_unit("recording_duration", help, Unit::Seconds, self.seconds.clone());
        let help = "Peak host memory of a recorder";
        registry.register_with_unit("recorder_memory", help, Unit::Bytes, self.memory_bytes.clone());
    }

    /// Counts the end of a recording by its outcome.
    pub(super) fn ended(&self, outcome: &'static str) {
        self.outcomes.get_or_create(&[("outcome", outcome)]).inc();
    }

    /// Records the time and memory of a recorder that has ended.
    pub(super) fn took(&self, seconds: f64, memory_bytes: u64) {
        self.seconds.observe(seconds);
        self.memory_bytes.observe(memory_bytes as f64);
    }
}
