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
        problems: Vec::new(),
    };
    serde_json::to_string(&error).expect("plain data can be written")
}

/// Watches until `stop` changes.
pub(super) async fn run(context: &Context, mut stop: watch::Receiver<bool>) {
    let (database, lease) = (&context.database, context.settings.lease);
    let mut watched = HashMap::new();
    loop {
        if let Err(error) = context.show().await {
            error!(%error, "this worker can't be seen by others");
        }
        if let Err(error) = look(database, lease, &mut watched).await {
            error!(%error, "running jobs can't be watched");
        }
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            () = tokio::time::sleep(lease / 6) => {}
        }
    }
    // Otherwise it is forgotten after a while.
    let _ = database.worker_is_gone(&context.name).await;
}

/// Looks at all running jobs once.
async fn look(database: &Database, lease: Duration, watched: &mut HashMap<String, (i64, Instant)>) -> Result<()> {
    let now = Instant::now();
    let beats: HashMap<String, i64> = database.heartbeats().await?.into_iter().collect();
    watched.retain(|job, _| beats.contains_key(job));
    for (job, beats) in beats {
        let seen = watched.entry(job.clone()).or_insert((beats, now));
        if seen.0 != beats {
            *seen = (beats, now);
        }
        if now.duration_since(seen.1) < lease {
            continue;
        }
        if let Some(state) = database.put_back(&job, beats, &gone()).await? {
            warn!(job, state = state.word(), "its worker has died");
            watched.remove(&job);
        }
    }
    Ok(())
}
