//! Holds the state that all jobs of a worker share.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::warn;
use uuid::Uuid;

use super::turns::Turns;
use super::{RecorderMetrics, WorkerSettings};
use crate::config::RecorderConfig;
use crate::database::Database;
use crate::failure::Failure;
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
    ///
    /// # Errors
    ///
    /// Returns an error if its scratch folder cannot be made.
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

    /// Returns the scratch folder of this process.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Records in the database that this worker is alive and which kinds it serves.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
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

    /// Returns the number of running recorders.
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
