//! Stores jobs and reads them in the forms that lists and job pages need.

use shared::api::{JobState, JobTask};
use sqlx::FromRow;

use super::Result;
use super::pool::{Database, change, execute, rows};

/// A job to be submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewJob {
    pub id: String,
    /// Queue of the job: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Higher priorities run first.
    pub priority: u16,
    pub name: String,
    /// Resolved job, as JSON.
    pub config: String,
    /// Config as submitted.
    pub source: String,
    /// Notes on how each foreign key of the config was treated, as JSON.
    pub notes: String,
    /// Key that a client repeats when it retries a request.
    pub idempotency_key: Option<String>,
    /// Hash that distinguishes requests with the same idempotency key.
    pub request_hash: String,
    /// Cards as on the command line, or the device.
    pub card: String,
    /// Requested optimizer steps.
    pub steps: u64,
    pub task: JobTask,
}

/// A job as lists show it, without its texts, which may take megabytes.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct JobSummary {
    pub id: String,
    /// Word of a [`JobState`].
    pub state: String,
    /// Queue of the job: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Higher priorities run first.
    pub priority: i64,
    pub name: String,
    /// Word of a [`JobTask`].
    pub task: String,
    /// Cards as on the command line, or the device; `None` for jobs that an older version submitted.
    pub card: Option<String>,
    /// Requested optimizer steps; `None` for jobs that an older version submitted.
    pub steps: Option<i64>,
    /// Resolved job as JSON, only for jobs that an older version submitted.
    pub config: Option<String>,
    /// Time of submission, in milliseconds since 1970.
    pub created_ms: i64,
    /// Time of the latest start, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// End time, in milliseconds since 1970.
    pub finished_ms: Option<i64>,
    /// Number of starts, without those given back because a worker stopped.
    pub attempts: i64,
    /// Latest progress as JSON, or the latest recording of a job that makes several.
    pub progress: Option<String>,
    /// Report of the recording as JSON, or the summary of several.
    pub result: Option<String>,
    /// Reason for the failure, as JSON.
    pub error: Option<String>,
    /// Size of the snapshot as stored, compressed.
    pub snapshot_bytes: Option<i64>,
    /// Number of jobs ahead in the same queue; `None` unless the job is queued.
    pub ahead: Option<i64>,
}

/// Query for [`JobSummary`] rows, to be completed with a `WHERE` clause.
const SUMMARIES: &str = "SELECT j.id, j.state, j.kind, j.priority, j.name, j.task, j.card, j.steps, \
    CASE WHEN j.card IS NULL THEN j.config END AS config, j.created_ms, j.started_ms, j.finished_ms, j.attempts, \
    j.progress, j.result, j.error, s.stored_bytes AS snapshot_bytes, q.ahead FROM recording_jobs j \
    LEFT JOIN snapshots s ON s.hash = j.snapshot \
    LEFT JOIN (SELECT id, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY priority DESC, id) - 1 AS ahead \
               FROM recording_jobs WHERE state = 'queued') q ON q.id = j.id";

/// A job as its worker and its own page need it.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct JobRow {
    pub id: String,
    /// Word of a [`JobState`].
    pub state: String,
    pub name: String,
    /// Word of a [`JobTask`].
    pub task: String,
    /// Resolved job as JSON; for a sweep, the config with its ranges.
    pub config: String,
    /// Config as submitted.
    pub source: String,
    /// Notes on how each foreign key of the config was treated, as JSON.
    pub notes: String,
    /// Number of starts, without those given back because a worker stopped.
    pub attempts: i64,
    /// Name of the worker process that runs the job.
    pub worker: Option<String>,
    /// Heartbeat counter, which every sign of life and change of worker increments.
    pub beats: i64,
    /// Latest progress, as JSON.
    pub progress: Option<String>,
    /// Reason for the failure, as JSON.
    pub error: Option<String>,
    /// Last lines of the recorder's log.
    pub log: Option<String>,
    pub snapshot: Option<String>,
}

pub(super) const COLUMNS: &str =
    "id, state, name, task, config, source, notes, attempts, worker, beats, progress, error, log, snapshot";

/// Filter and size of one page of the job list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub state: Option<JobState>,
    /// Restricts the list to jobs older than the one with this ID.
    pub before: Option<String>,
    pub limit: u32,
}

/// Documents of a job that only its page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, FromRow)]
pub struct JobDocuments {
    /// Memory over the events of the recording, as JSON.
    pub curve: Option<String>,
    /// Results of several recordings, as JSON.
    pub report: Option<String>,
}

/// Number of jobs with the same kind and state.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Counts {
    /// Queue of the jobs: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Word of a [`JobState`].
    pub state: String,
    pub jobs: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    Deleted,
    /// The job is queued or running and stays.
    NotOver,
    /// No job has this ID.
    Unknown,
}

impl Database {
    pub async fn job(&self, id: &str) -> Result<Option<JobRow>> {
        let query = format!("SELECT {COLUMNS} FROM recording_jobs WHERE id = $1");
        Ok(rows!(self, fetch_optional, sqlx::AssertSqlSafe(query), id)?)
    }

    /// Reads one page of the job list, latest first.
    pub async fn jobs(&self, page: &Page) -> Result<Vec<JobSummary>> {
        let query = format!(
            "{SUMMARIES} WHERE ($1 IS NULL OR j.state = $1) AND ($2 IS NULL OR j.id < $2) ORDER BY j.id DESC LIMIT $3"
        );
        let (state, before, limit) = (page.state.map(JobState::word), page.before.as_deref(), i64::from(page.limit));
        Ok(rows!(self, fetch_all, sqlx::AssertSqlSafe(query), state, before, limit)?)
    }

    pub async fn job_summary(&self, id: &str) -> Result<Option<JobSummary>> {
        let query = format!("{SUMMARIES} WHERE j.id = $1");
        Ok(rows!(self, fetch_optional, sqlx::AssertSqlSafe(query), id)?)
    }

    pub async fn job_counts(&self) -> Result<Vec<Counts>> {
        let query =
            "SELECT kind, state, COUNT(*) AS jobs FROM recording_jobs GROUP BY kind, state ORDER BY kind, state";
        Ok(rows!(self, fetch_all, query)?)
    }

    /// Reads the memory curve of a job and the document of several recordings, as JSON.
    ///
    /// [`JobRow`] omits both, because only the page of the job shows them.
    pub async fn job_documents(&self, id: &str) -> Result<JobDocuments> {
        let query = "SELECT curve, report FROM recording_jobs WHERE id = $1";
        Ok(rows!(self, fetch_optional, query, id)?.unwrap_or_default())
    }

    /// Renames a job and returns false if no job has this ID.
    pub async fn rename_job(&self, id: &str, name: &str) -> Result<bool> {
        Ok(execute!(self, "UPDATE recording_jobs SET name = $2 WHERE id = $1", id, name)? > 0)
    }

    /// Deletes a job that has ended, with its events.
    ///
    /// A queued or running job stays, because a worker may have it. The snapshot is left to the housekeeper, because
    /// links may refer to it.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails; the job is then unchanged.
    pub async fn delete_job(&self, id: &str) -> Result<Deletion> {
        change!(self, transaction => {
            let deleted = sqlx::query(
                "DELETE FROM recording_jobs WHERE id = $1 AND state IN ('finished', 'failed', 'cancelled')",
            )
            .bind(id)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
            let left: (i64,) = sqlx::query_as("SELECT COUNT(*) FROM recording_jobs WHERE id = $1")
                .bind(id)
                .fetch_one(&mut *transaction)
                .await?;
            Ok(match (deleted, left) {
                (1.., _) => Deletion::Deleted,
                (0, (1..,)) => Deletion::NotOver,
                _ => Deletion::Unknown,
            })
        })
    }

    /// Deletes jobs that ended before a time, with their events, and returns how many.
    ///
    /// Their snapshots are left to the housekeeper.
    pub async fn forget_jobs(&self, ended_before_ms: i64) -> Result<u64> {
        let query =
            "DELETE FROM recording_jobs WHERE finished_ms < $1 AND state IN ('finished', 'failed', 'cancelled')";
        Ok(execute!(self, query, ended_before_ms)?)
    }
}
