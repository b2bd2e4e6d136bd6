//! What every job of a worker uses.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// What every job of a worker uses.
#[derive(Debug)]
pub struct Context {
    /// A name that no other worker has, now or before.
    pub(super) name: String,
    /// Where jobs are.
    pub(super) database: Database,
    /// Where snapshots go.
    pub(super) store: Store,
    /// Where the recorder is.
    pub(super) recorder: RecorderConfig,
    /// What the worker may do.
    pub(super) settings: WorkerSettings,
    /// Becomes true when running jobs are to be given back.
    pub(super) give_back: watch::Sender<bool>,
    /// Who may run beside whom.
    pub(super) turns: Turns,
    /// How many recorders run.
    pub(super) running: AtomicUsize,
    /// What is counted of recordings.
    pub(super) metrics: RecorderMetrics,
    scratch: Scratch,
}

impl Context {
    /// A worker that has not begun.
    ///
    /// # Errors
    ///
    /// Its folder cannot be made.
    pub fn new(
        database: Database,
        store: Store,
        settings: WorkerSettings,
        recorder: RecorderConfig,
    ) -> Result<Self, Failure> {
        let scratch = Scratch::open(&settings.scratch).map_err(|error| {
            Failure::new(
                format!("recordings can't be made in {}: {error}", settings.scratch.display()),
                "name a folder that you may write to with --data",
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
            scratch,
        })
    }

    /// The folder of this process for what is under way.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Shows others that this worker is here, and what it takes.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn show(&self) -> crate::database::Result<()> {
        for slots in &self.settings.slots {
            self.database.worker_is_here(&self.name, &slots.kind, slots.jobs).await?;
        }
        Ok(())
    }

    /// How many recorders run at this moment.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// What is counted of recordings.
    pub fn metrics(&self) -> &RecorderMetrics {
        &self.metrics
    }

    /// Waits for running jobs as long as they may go on, then has them put back.
    pub async fn wind_down(&self, mut jobs: JoinHandle<()>) {
        if tokio::time::timeout(self.settings.grace, &mut jobs).await.is_ok() {
            return;
        }
        warn!(jobs = self.running(), "running jobs are put back");
        self.give_back.send_replace(true);
        let end = self.settings.limits.grace + self.settings.lease;
        // Whoever is left over after that is found by other workers.
        let _ = tokio::time::timeout(end, jobs).await;
    }
}
