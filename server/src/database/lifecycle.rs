//! Changes the state of jobs, each time in one transaction with the matching event.
//!
//! A job is submitted, claimed by a worker and ended.
//!
//! Invariant: a job leaves `queued` by one statement, which only one worker can win.
//!
//! Claiming the next job is a single statement on the rows of queued jobs. A library with a queue of its own (apalis)
//! was removed: it stored in a second place what the rows already said, and the lease, the counter and the limit of
//! attempts were ours anyway.

use shared::api::JobState;

use super::events::{append, event};
use super::jobs::COLUMNS;
use super::pool::{Database, change, rows};
use super::{JobRow, Result, now_ms};

/// Maximum number of starts of a job, because a worker that dies may be the job's fault.
pub const MOST_ATTEMPTS: i64 = 3;

/// Maximum number of starts of a job next to others.
///
/// Its last attempt is alone on the worker, so that a crash can be attributed to it.
const MOST_ATTEMPTS_BESIDE_OTHERS: i64 = MOST_ATTEMPTS - 1;

/// Result of claiming the next job of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The job now belongs to this worker.
    Mine(Box<JobRow>),
    /// The next job must run alone on its worker.
    Alone,
    Nothing,
}

/// End of a job, with its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Final state: finished, failed or cancelled.
    pub state: JobState,
    /// Report of the recording as JSON, or the summary of several.
    pub result: Option<String>,
    /// Results of several recordings, as JSON.
    pub report: Option<String>,
    /// Memory over the events of the recording, as JSON.
    pub curve: Option<String>,
    /// Reason for the failure, as JSON.
    pub error: Option<String>,
    /// Last lines of the recorder's log.
    pub log: String,
    /// Hash of the snapshot, whose row must exist already.
    pub snapshot: Option<String>,
}

impl Outcome {
    /// Makes an end without results.
    pub fn of(state: JobState) -> Self {
        Self { state, result: None, report: None, curve: None, error: None, log: String::new(), snapshot: None }
    }
}

/// Completes a transaction that may have requeued a job: appends the event of its state.
macro_rules! settle {
    ($transaction:expr, $job:expr, $changed:expr) => {{
        let changed: Option<(String,)> = $changed;
        let state = changed.and_then(|(state,)| JobState::of(&state));
        if let Some(state) = state {
            append!($transaction, $job, event(state));
        }
        Ok(state)
    }};
}

impl Database {
    /// Claims the next queued job of a kind: the highest priority first, then the oldest.
    ///
    /// A job whose workers have died is left to a worker that `is_alone`, which runs no other job.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails. If the claim took effect all the same, another worker finds the job.
    pub async fn claim(&self, kind: &str, worker: &str, is_alone: bool) -> Result<Claim> {
        // An idle worker looks often, and does not write.
        let next = "SELECT attempts FROM recording_jobs WHERE state = 'queued' AND kind = $1 \
                    ORDER BY priority DESC, id LIMIT 1";
        let waiting: Option<(i64,)> = rows!(self, fetch_optional, next, kind)?;
        let Some((attempts,)) = waiting else { return Ok(Claim::Nothing) };
        let most = if is_alone { i64::MAX } else { MOST_ATTEMPTS_BESIDE_OTHERS };
        if attempts >= most {
            return Ok(Claim::Alone);
        }
        // On PostgreSQL, workers that claim at the same time get different jobs instead of waiting for one another.
        let lock = if matches!(self, Self::Postgres(_)) { "FOR UPDATE SKIP LOCKED" } else { "" };
        let claim = format!(
            "UPDATE recording_jobs SET state = 'running', worker = $2, started_ms = $3, attempts = attempts + 1, \
             beats = beats + 1, progress = NULL WHERE state = 'queued' AND id = (SELECT id FROM recording_jobs \
             WHERE state = 'queued' AND kind = $1 AND attempts < $4 ORDER BY priority DESC, id LIMIT 1 {lock}) \
             RETURNING {COLUMNS}"
        );
        change!(self, transaction => {
            let row: Option<JobRow> = sqlx::query_as(sqlx::AssertSqlSafe(claim))
                .bind(kind).bind(worker).bind(now_ms()).bind(most)
                .fetch_optional(&mut *transaction)
                .await?;
            if let Some(row) = &row {
                append!(transaction, &row.id, event(JobState::Running));
            }
            Ok(row.map_or(Claim::Nothing, |row| Claim::Mine(Box::new(row))))
        })
    }

    /// Ends a job, as long as this worker runs it.
    ///
    /// Returns false if the job no longer belongs to this worker; nothing is changed then.
    pub async fn finish(&self, id: &str, worker: &str, outcome: &Outcome) -> Result<bool> {
        let Outcome { state, result, report, curve, error, log, snapshot } = outcome;
        let text_bytes =
            [result, report, curve, error].into_iter().flatten().chain([log]).map(String::len).sum::<usize>();
        change!(self, transaction => {
            let ended = sqlx::query(
                "UPDATE recording_jobs SET state = $3, finished_ms = $4, result = $5, error = $6, log = $7, \
                 snapshot = $8, curve = $9, text_bytes = text_bytes + $10, report = $11 \
                 WHERE id = $1 AND worker = $2 AND state = 'running'",
            )
            .bind(id).bind(worker).bind(state.word()).bind(now_ms()).bind(result).bind(error).bind(log).bind(snapshot)
            .bind(curve).bind(i64::try_from(text_bytes).unwrap_or(i64::MAX)).bind(report)
            .execute(&mut *transaction)
            .await?;
            let ended = ended.rows_affected() > 0;
            if ended {
                append!(transaction, id, event(*state));
            }
            Ok(ended)
        })
    }

    /// Cancels a queued job, or asks the worker of a running one to cancel it.
    ///
    /// Returns the job's state afterwards, or `None` if no job has this ID.
    pub async fn cancel(&self, id: &str) -> Result<Option<JobState>> {
        change!(self, transaction => {
            let state: Option<(String,)> = sqlx::query_as(
                "UPDATE recording_jobs SET cancel_requested = 1, \
                 finished_ms = CASE WHEN state = 'queued' THEN $2 ELSE finished_ms END, \
                 state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END \
                 WHERE id = $1 AND state IN ('queued', 'running') RETURNING state",
            )
            .bind(id).bind(now_ms())
            .fetch_optional(&mut *transaction)
            .await?;
            if state.as_ref().is_some_and(|(state,)| state == "cancelled") {
                append!(transaction, id, event(JobState::Cancelled));
            }
            let state = match state {
                Some(state) => Some(state),
                None => {
                    sqlx::query_as("SELECT state FROM recording_jobs WHERE id = $1")
                        .bind(id)
                        .fetch_optional(&mut *transaction)
                        .await?
                }
            };
            Ok(state.and_then(|(state,)| JobState::of(&state)))
        })
    }

    /// Requeues a running job whose heartbeat counter is still `beats`.
    ///
    /// A job that has used up its attempts fails with `error`; one with a requested cancellation is cancelled. Returns
    /// the new state, or `None` if nothing was changed.
    pub async fn put_back(&self, id: &str, beats: i64, error: &str) -> Result<Option<JobState>> {
        change!(self, transaction => {
            let changed: Option<(String,)> = sqlx::query_as(
                "UPDATE recording_jobs SET beats = beats + 1, worker = NULL, \
                 state = CASE WHEN cancel_requested <> 0 THEN 'cancelled' WHEN attempts < $3 THEN 'queued' \
                   ELSE 'failed' END, \
                 finished_ms = CASE WHEN cancel_requested = 0 AND attempts < $3 THEN NULL ELSE $4 END, \
                 error = CASE WHEN cancel_requested = 0 AND attempts >= $3 THEN $5 END \
                 WHERE id = $1 AND beats = $2 AND state = 'running' RETURNING state",
            )
            .bind(id).bind(beats).bind(MOST_ATTEMPTS).bind(now_ms()).bind(error)
            .fetch_optional(&mut *transaction)
            .await?;
            settle!(transaction, id, changed)
        })
    }

    /// Returns a job of this worker to the queue.
    ///
    /// `is_attempt` is false if the start does not count as an attempt, such as when the worker stops.
    ///
    /// Returns the new state, which is cancelled if that was requested, or `None` if the job no longer belongs to this
    /// worker.
    pub async fn give_back(&self, id: &str, worker: &str, is_attempt: bool) -> Result<Option<JobState>> {
        change!(self, transaction => {
            let changed: Option<(String,)> = sqlx::query_as(
                "UPDATE recording_jobs SET beats = beats + 1, worker = NULL, attempts = attempts - $4, \
                 state = CASE WHEN cancel_requested <> 0 THEN 'cancelled' ELSE 'queued' END, \
                 finished_ms = CASE WHEN cancel_requested <> 0 THEN $3 END \
                 WHERE id = $1 AND worker = $2 AND state = 'running' RETURNING state",
            )
            .bind(id).bind(worker).bind(now_ms()).bind(i64::from(!is_attempt))
            .fetch_optional(&mut *transaction)
            .await?;
            settle!(transaction, id, changed)
        })
    }

    /// Returns the IDs and heartbeat counters of all running jobs.
    pub async fn heartbeats(&self) -> Result<Vec<(String, i64)>> {
        Ok(rows!(self, fetch_all, "SELECT id, beats FROM recording_jobs WHERE state = 'running'")?)
    }
}
