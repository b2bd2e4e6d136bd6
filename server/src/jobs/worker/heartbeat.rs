//! Writes the events of a running recording to the database, which also shows that its worker is alive; finds jobs
//! whose worker has died and returns them to the queue.
//!
//! Clocks of several machines differ and jump. Therefore a worker increments a counter in its jobs' rows while it
//! lives, and observers measure the time between two changes with their own monotonic clock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shared::api::{JobError, JobErrorCode, JobEvent};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{Span, error, warn};

use super::Context;
use crate::Failure;
use crate::database::Database;
use crate::recording::repro::RecordingFailure;

/// Interval at which events are written and cancellation is checked.
const TICK: Duration = Duration::from_millis(300);

/// The way in which a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The recorder ended by itself.
    Ended,
    /// Somebody cancelled the job.
    Cancelled,
    /// This worker is stopping.
    GivenBack,
    /// The job no longer belongs to this worker.
    Lost,
}

/// Records on a thread of its own and follows it; `work` gets the sender of its events, and what becomes true if it
/// must stop.
pub(super) async fn on_thread<T: Send + 'static>(
    context: &Context,
    job: &str,
    work: impl FnOnce(UnboundedSender<JobEvent>, Arc<AtomicBool>) -> Result<T, Box<RecordingFailure>> + Send + 'static,
) -> (Left, Result<T, Box<RecordingFailure>>) {
    let (sender, events) = unbounded_channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (span, stop) = (Span::current(), Arc::clone(&cancelled));
    let thread = spawn_blocking(move || span.in_scope(|| work(sender, stop)));
    let left = follow(context, job, events, &cancelled).await;
    let result = thread.await.unwrap_or_else(|error| {
        Err(Failure::new(format!("the thread that runs the recorder failed: {error}"), "try again").into())
    });
    (left, result)
}

/// Follows a recording until its listener is dropped, and sets `cancelled` if the recording must stop.
async fn follow(context: &Context, job: &str, mut events: UnboundedReceiver<JobEvent>, cancelled: &AtomicBool) -> Left {
    let mut left = Left::Ended;
    let mut give_back = context.give_back.subscribe();
    let mut unwritten = Vec::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut written = Instant::now();
    let mut open = true;
    while open {
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => { unwritten.push(event); continue; }
                None => open = false,
            },
            _ = give_back.wait_for(|give_back| *give_back), if left == Left::Ended => left = Left::GivenBack,
            _ = tick.tick() => {}
        }
        if left == Left::Lost {
            continue;
        }
        match write(context, job, &mut unwritten).await {
            Ok(Some(false)) => written = Instant::now(),
            Ok(Some(true)) if left == Left::Ended => left = Left::Cancelled,
            Ok(Some(true)) => {}
            Ok(None) => left = Left::Lost,
            // The database may come back soon; the events wait until then.
            Err(error) if written.elapsed() < context.settings.lease => warn!(job, %error, "can't write progress yet"),
            Err(_) => left = Left::Lost,
        }
        if left != Left::Ended {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
    left
}

/// Writes the events and clears them on success; returns what [`crate::database::Database::report`] does.
async fn write(
    context: &Context,
    job: &str,
    events: &mut Vec<JobEvent>,
) -> Result<Option<bool>, crate::database::DatabaseError> {
    let progress = events.iter().rev().find_map(|event| match event {
        JobEvent::Progress(progress) => Some(serde_json::to_string(progress)),
        JobEvent::Recorded(recorded) => Some(serde_json::to_string(recorded)),
        _ => None,
    });
    let progress = progress.transpose().expect("plain data can be written");
    let bodies: Result<Vec<String>, _> = events.iter().map(serde_json::to_string).collect();
    let bodies = bodies.expect("plain data can be written");
    let answer = context.database.report(job, &context.name, progress.as_deref(), &bodies).await?;
    events.clear();
    Ok(answer)
}

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
pub(super) async fn watch_others(context: &Context, mut stop: watch::Receiver<bool>) {
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
    async fn look(&mut self, database: &Database) -> crate::database::Result<()> {
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
