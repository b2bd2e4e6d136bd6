//! Finds jobs whose worker has died and returns them to the queue.
//!
//! Clocks of several machines differ and jump. Therefore a worker increments a counter in its jobs' rows while it
//! lives, and observers measure the time between two changes with their own monotonic clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use shared::api::{JobError, JobErrorCode};
use tokio::sync::watch;
use tracing::{error, warn};

use super::Context;
use crate::database::{Database, Result};

/// Returns the error of a job whose workers have all died, as JSON.
fn gone() -> String {
    let error = JobError::new(
        JobErrorCode::WorkerDied,
        "Every worker that recorded this job died while it ran.",
        "Check the logs of the workers for the reason, such as a machine that ran out of memory; then submit the job \
         again.",
    );
    serde_json::to_string(&error).expect("plain data can be written")
}

/// Watches running jobs until `stop` changes.
pub(super) async fn run(context: &Context, mut stop: watch::Receiver<bool>) {
    let lease = context.settings.lease;
    let mut watch = Watch { lease, looked: Instant::now(), jobs: HashMap::new() };
    loop {
        if let Err(error) = context.show().await {
            error!(%error, "this worker can't announce itself to others");
        }
        if let Err(error) = watch.look(&context.database).await {
            error!(%error, "the heartbeats of running jobs can't be read");
        }
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            () = tokio::time::sleep(lease / 6) => {}
        }
    }
    // If this fails, the worker is forgotten after a day.
    let _ = context.database.worker_is_gone(&context.name).await;
}

/// Observations of running jobs.
struct Watch {
    lease: Duration,
    /// Time of the last answer of the database.
    looked: Instant,
    /// Heartbeat counter of each job, and the time when it last changed.
    jobs: HashMap<String, (i64, Instant)>,
}

impl Watch {
    /// Checks all running jobs once and requeues those whose worker has been silent for the lease.
    async fn look(&mut self, database: &Database) -> Result<()> {
        let beats: HashMap<String, i64> = database.heartbeats().await?.into_iter().collect();
        let now = Instant::now();
        if now.duration_since(self.looked) >= self.lease {
            // While the database did not answer, no heartbeat could be seen.
            self.jobs.clear();
        }
        self.looked = now;
        self.jobs.retain(|job, _| beats.contains_key(job));
        for (job, beats) in beats {
            let seen = self.jobs.entry(job.clone()).or_insert((beats, now));
            if seen.0 != beats {
                *seen = (beats, now);
            }
            if now.duration_since(seen.1) < self.lease {
                continue;
            }
            if let Some(state) = database.put_back(&job, beats, &gone()).await? {
                warn!(job, state = state.word(), "the worker of this job has died");
                self.jobs.remove(&job);
            }
        }
        Ok(())
    }
}
