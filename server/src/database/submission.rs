//! Submits jobs to the queue, once per idempotency key and within the limits.

use shared::api::JobState;

use super::events::{append, event};
use super::pool::{Database, change, rows};
use super::snapshots::{LIMITS, Limits, USED, fits};
use super::{NewJob, Result, now_ms};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submission {
    New,
    /// The same request was submitted before, as the job with this ID.
    Known(String),
    /// A different request was submitted before under the same idempotency key.
    Conflict,
    /// The maximum number of jobs is queued.
    QueueFull,
    /// The texts of the job exceed the quota.
    NoRoom,
}

/// Query for the job of an idempotency key and the hash of its request.
const OF_KEY: &str = "SELECT id, request_hash FROM recording_jobs WHERE idempotency_key = $1";

const WAITING: &str = "SELECT COUNT(*) FROM recording_jobs WHERE state = 'queued'";

/// Compares a request with the stored one of the same key.
fn repeated(job: &NewJob, (id, request_hash): (String, String)) -> Submission {
    if request_hash == job.request_hash { Submission::Known(id) } else { Submission::Conflict }
}

impl NewJob {
    /// Bytes of the texts that count towards the quota.
    fn text_bytes(&self) -> i64 {
        let bytes = self.config.len() + self.source.len() + self.notes.len();
        bytes.try_into().unwrap_or(i64::MAX)
    }
}

/// Returns the reason to refuse a job, if any; the lock on the limits keeps it valid until the transaction ends.
macro_rules! refusal {
    ($transaction:expr, $job:expr) => {{
        let (quota_bytes, most_waiting): Limits = sqlx::query_as(LIMITS).fetch_one(&mut *$transaction).await?;
        let known = sqlx::query_as(OF_KEY).bind(&$job.idempotency_key).fetch_optional(&mut *$transaction).await?;
        let (waiting,): (i64,) = sqlx::query_as(WAITING).fetch_one(&mut *$transaction).await?;
        let (used_bytes,): (i64,) = sqlx::query_as(USED).fetch_one(&mut *$transaction).await?;
        match known {
            Some(known) => Some(repeated($job, known)),
            None if most_waiting.is_some_and(|most| waiting >= most) => Some(Submission::QueueFull),
            None if !fits(quota_bytes, used_bytes, $job.text_bytes()) => Some(Submission::NoRoom),
            None => None,
        }
    }};
}

impl Database {
    /// Submits a job to the queue, once per idempotency key and within the limits.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails; nothing is queued then.
    pub async fn submit(&self, job: &NewJob) -> Result<Submission> {
        let priority = i64::from(job.priority);
        change!(self, transaction => {
            if let Some(refusal) = refusal!(transaction, job) {
                Ok(refusal)
            } else {
                sqlx::query(
                    "INSERT INTO recording_jobs (id, state, kind, priority, name, config, source, notes, \
                     idempotency_key, request_hash, created_ms, attempts, beats, cancel_requested, card, steps, \
                     text_bytes, task) VALUES ($1, 'queued', $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, 0, $11, $12, $13, $14)",
                )
                .bind(&job.id).bind(&job.kind).bind(priority).bind(&job.name).bind(&job.config).bind(&job.source)
                .bind(&job.notes).bind(&job.idempotency_key).bind(&job.request_hash).bind(now_ms())
                .bind(&job.card).bind(i64::try_from(job.steps).unwrap_or(i64::MAX)).bind(job.text_bytes())
                .bind(job.task.word())
                .execute(&mut *transaction)
                .await?;
                append!(transaction, &job.id, event(JobState::Queued));
                Ok(Submission::New)
            }
        })
    }

    /// Returns the outcome of an earlier request with the same key, or `None` if there is none.
    pub async fn submitted(&self, job: &NewJob) -> Result<Option<Submission>> {
        let known = rows!(self, fetch_optional, OF_KEY, &job.idempotency_key)?;
        Ok(known.map(|known| repeated(job, known)))
    }
}
