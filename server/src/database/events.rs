//! Stores the events of each job in order; they are the source of its server-sent events.

use shared::api::{JobEvent, JobState};
use sqlx::FromRow;

use super::Result;
use super::pool::{Database, change, rows};

#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Event {
    /// Number of the event within its job, from 1 without gaps.
    pub sequence: i64,
    /// The event as JSON.
    pub body: String,
}

pub(super) fn event(state: JobState) -> String {
    serde_json::to_string(&JobEvent::State { state }).expect("plain data can be written")
}

/// Appends an event to its job within a transaction.
macro_rules! append {
    ($transaction:expr, $job:expr, $body:expr) => {
        sqlx::query(
            "INSERT INTO recording_events (job, sequence, at_ms, body) \
             SELECT $1, COALESCE(MAX(sequence), 0) + 1, $2, $3 FROM recording_events WHERE job = $1",
        )
        .bind($job)
        .bind($crate::database::now_ms())
        .bind($body)
        .execute(&mut *$transaction)
        .await?
    };
}
pub(super) use append;

impl Database {
    /// Appends the events and latest progress of a running job, as long as this worker runs it.
    ///
    /// Returns `None` if another worker has the job or it has ended; otherwise true if its cancellation was requested.
    pub async fn report(
        &self,
        job: &str,
        worker: &str,
        progress: Option<&str>,
        bodies: &[String],
    ) -> Result<Option<bool>> {
        let text_bytes = bodies.iter().map(String::len).sum::<usize>();
        let text_bytes = i64::try_from(text_bytes).unwrap_or(i64::MAX);
        change!(self, transaction => {
            let cancel: Option<(i64,)> = sqlx::query_as(
                "UPDATE recording_jobs SET beats = beats + 1, progress = COALESCE($3, progress), \
                 text_bytes = text_bytes + $4 WHERE id = $1 AND worker = $2 AND state = 'running' RETURNING cancel_requested",
            )
            .bind(job).bind(worker).bind(progress).bind(text_bytes)
            .fetch_optional(&mut *transaction)
            .await?;
            if cancel.is_some() {
                for body in bodies {
                    append!(transaction, job, body);
                }
            }
            Ok(cancel.map(|(cancel,)| cancel != 0))
        })
    }

    /// Returns at most `most` events of a job that follow event number `sequence`.
    pub async fn events_after(&self, job: &str, sequence: i64, most: i64) -> Result<Vec<Event>> {
        let query = "SELECT sequence, body FROM recording_events WHERE job = $1 AND sequence > $2 \
                     ORDER BY sequence LIMIT $3";
        Ok(rows!(self, fetch_all, query, job, sequence, most)?)
    }
}
