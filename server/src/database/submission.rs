//! How a job comes into the queue: once per idempotency key, and only while there is room for it.

use shared::api::JobState;

use super::events::{append, event};
use super::queue::change_and_enqueue;
use super::room::{LIMITS, Limits, USED, fits};
use super::{Database, NewJob, Result, now_ms, on};

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submission {
    /// It is queued.
    New,
    /// The same request was here before, as this job.
    Known(String),
    /// Another request was here before under the same idempotency key.
    Conflict,
    /// As many jobs wait as may.
    QueueFull,
    /// Its texts are more than the quota leaves.
    NoRoom,
}

/// The job of an idempotency key, and the hash of its request.
const OF_KEY: &str = "SELECT id, request_hash FROM recording_jobs WHERE idempotency_key = $1";

/// How many jobs wait.
const WAITING: &str = "SELECT COUNT(*) FROM recording_jobs WHERE state = 'queued'";

/// What a request comes to whose key is known.
fn repeated(job: &NewJob, (id, request_hash): (String, String)) -> Submission {
    if request_hash == job.request_hash { Submission::Known(id) } else { Submission::Conflict }
}

impl NewJob {
    /// Bytes of its texts.
    fn text_bytes(&self) -> i64 {
        let bytes = self.config.len() + self.source.len() + self.notes.len();
        bytes.try_into().unwrap_or(i64::MAX)
    }
}

/// What speaks against a job, inside a change; nobody else is let in until its end.
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
    /// Puts a job into the queue, once per idempotency key, and unless there are too many.
    ///
    /// # Errors
    ///
    /// The database fails; then nothing was queued.
    pub async fn submit(&self, job: &NewJob) -> Result<Submission> {
        let priority = i64::from(job.priority);
        change_and_enqueue!(self, &job.id, transaction => {
            if let Some(refusal) = refusal!(transaction, job) {
                (None, Ok(refusal))
            } else {
                sqlx::query(
                    "INSERT INTO recording_jobs (id, state, kind, priority, name, config, source, notes, \
                     idempotency_key, request_hash, created_ms, attempts, beats, cancel_requested, card, steps, \
                     text_bytes) VALUES ($1, 'queued', $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, 0, $11, $12, $13)",
                )
                .bind(&job.id).bind(&job.kind).bind(priority).bind(&job.name).bind(&job.config).bind(&job.source)
                .bind(&job.notes).bind(&job.idempotency_key).bind(&job.request_hash).bind(now_ms())
                .bind(&job.card).bind(i64::try_from(job.steps).unwrap_or(i64::MAX)).bind(job.text_bytes())
                .execute(&mut *transaction)
                .await?;
                append!(transaction, &job.id, event(JobState::Queued));
                (Some((job.kind.clone(), priority)), Ok(Submission::New))
            }
        })
    }

    /// What a request comes to that was here before, `None` for one that is new.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn submitted(&self, job: &NewJob) -> Result<Option<Submission>> {
        let known = on!(self, pool => sqlx::query_as(OF_KEY).bind(&job.idempotency_key).fetch_optional(pool).await)?;
        Ok(known.map(|known| repeated(job, known)))
    }
}
