//! Finds jobs whose worker has died, and gives them to others.
//!
//! Clocks of several machines differ and jump: a worker counts up in its jobs' rows while it lives, and whoever
//! watches takes the time between two changes with its own monotonic clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use shared::api::ErrorBody;
use tokio::sync::watch;
use tracing::{error, warn};

use super::Context;
use crate::database::{Database, Result};

/// What a job fails with when every worker that took it has died.
fn gone() -> String {
    let error = ErrorBody {
        code: "worker_died".to_owned(),
        message: "Each worker that recorded this job died while it ran.".to_owned(),
        hint: "Look for the reason in the logs of the workers, such as a machine that ran out of memory; then submit \
               the job again."
            .to_owned(),
        ..ErrorBody::default()
    };
    serde_json::to_string(&error).expect("plain data can be written")
}

/// Watches until `stop` changes.
pub(super) async fn run(context: &Context, mut stop: watch::Receiver<bool>) {
    let lease = context.settings.lease;
    let mut watch = Watch { lease, looked: Instant::now(), jobs: HashMap::new() };
    loop {
        if let Err(error) = context.show().await {
            error!(%error, "this worker can't be seen by others");
        }
        if let Err(error) = watch.look(&context.database).await {
            error!(%error, "running jobs can't be watched");
        }
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            () = tokio::time::sleep(lease / 6) => {}
        }
    }
    // Otherwise it is forgotten after a while.
    let _ = context.database.worker_is_gone(&context.name).await;
}

/// What is known of running jobs.
struct Watch {
    lease: Duration,
    /// When the database answered last.
    looked: Instant,
    /// The count that each job's worker has come to, and since when.
    jobs: HashMap<String, (i64, Instant)>,
}

impl Watch {
    /// Looks at all running jobs once, and puts back those whose worker has been silent for the lease.
    async fn look(&mut self, database: &Database) -> Result<()> {
        let beats: HashMap<String, i64> = database.heartbeats().await?.into_iter().collect();
        let now = Instant::now();
        if now.duration_since(self.looked) >= self.lease {
            // While nothing could be heard, nobody could be heard of.
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
                warn!(job, state = state.word(), "its worker has died");
                self.jobs.remove(&job);
            }
        }
        Ok(())
    }
}
