//! Writes the events of a running recording to the database, which also shows that its worker is alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shared::api::JobEvent;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::warn;

use super::Context;

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

/// Follows a recording until its listener is dropped, and sets `cancelled` if the recording must stop.
pub(super) async fn follow(
    context: &Context,
    job: &str,
    mut events: UnboundedReceiver<JobEvent>,
    cancelled: &AtomicBool,
) -> Left {
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
    let json = |event: &JobEvent| serde_json::to_string(event).expect("plain data can be written");
    let progress = events.iter().rev().find_map(|event| match event {
        JobEvent::Progress(progress) => Some(serde_json::to_string(progress).expect("plain data can be written")),
        JobEvent::Recorded(recorded) => Some(serde_json::to_string(recorded).expect("plain data can be written")),
        _ => None,
    });
    let bodies: Vec<String> = events.iter().map(json).collect();
    let answer = context.database.report(job, &context.name, progress.as_deref(), &bodies).await?;
    events.clear();
    Ok(answer)
}
