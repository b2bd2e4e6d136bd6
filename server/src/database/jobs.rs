//! Jobs as they are stored, and what is read of them.

use shared::api::JobState;
use sqlx::FromRow;

use super::{Database, Result, change, on};

/// A job that is about to be submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewJob {
    /// A name for it that nothing else has.
    pub id: String,
    /// What it runs on: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Higher ones first.
    pub priority: u16,
    /// What people call it.
    pub name: String,
    /// The resolved job, as JSON.
    pub config: String,
    /// The config as it was submitted.
    pub source: String,
    /// What became of each foreign key, as JSON.
    pub notes: String,
    /// What a client repeats with a request that it is not sure of.
    pub idempotency_key: Option<String>,
    /// Tells one request from another under the same key.
    pub request_hash: String,
    /// Its cards as on the command line, or its device.
    pub card: String,
    /// Optimizer steps that were asked for.
    pub steps: u64,
}

/// What a list shows of a job: none of its texts, which may have megabytes.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct JobSummary {
    /// Its name in addresses.
    pub id: String,
    /// The word of a [`JobState`].
    pub state: String,
    /// What it runs on.
    pub kind: String,
    /// Higher ones first.
    pub priority: i64,
    /// What people call it.
    pub name: String,
    /// Its cards as on the command line, or its device; `None` for jobs that an older version took.
    pub card: Option<String>,
    /// Optimizer steps that were asked for; `None` for the same jobs.
    pub steps: Option<i64>,
    /// The resolved job of those, as JSON.
    pub config: Option<String>,
    /// When it was submitted, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was started last.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub finished_ms: Option<i64>,
    /// How often it was started.
    pub attempts: i64,
    /// The latest progress, as JSON.
    pub progress: Option<String>,
    /// The report of the recording, as JSON.
    pub result: Option<String>,
    /// Why it failed, as JSON.
    pub error: Option<String>,
    /// Bytes of its snapshot as stored.
    pub snapshot_bytes: Option<i64>,
    /// How many jobs are before it, while it waits.
    pub ahead: Option<i64>,
}

/// Reads [`JobSummary`]s; what follows says which.
const SUMMARIES: &str = "SELECT j.id, j.state, j.kind, j.priority, j.name, j.card, j.steps, \
    CASE WHEN j.card IS NULL THEN j.config END AS config, j.created_ms, j.started_ms, j.finished_ms, j.attempts, \
    j.progress, j.result, j.error, s.stored_bytes AS snapshot_bytes, q.ahead FROM recording_jobs j \
    LEFT JOIN snapshots s ON s.hash = j.snapshot \
    LEFT JOIN (SELECT id, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY priority DESC, id) - 1 AS ahead \
               FROM recording_jobs WHERE state = 'queued') q ON q.id = j.id";

/// A job as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct JobRow {
    /// Its name in addresses.
    pub id: String,
    /// The word of a [`JobState`].
    pub state: String,
    /// What it runs on.
    pub kind: String,
    /// Higher ones first.
    pub priority: i64,
    /// What people call it.
    pub name: String,
    /// The resolved job, as JSON.
    pub config: String,
    /// The config as it was submitted.
    pub source: String,
    /// What became of each foreign key, as JSON.
    pub notes: String,
    /// When it was submitted, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was started last.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub finished_ms: Option<i64>,
    /// How often it was started.
    pub attempts: i64,
    /// Who runs it.
    pub worker: Option<String>,
    /// How often that worker has shown that it is alive.
    pub beats: i64,
    /// The latest progress, as JSON.
    pub progress: Option<String>,
    /// The report of the recording, as JSON.
    pub result: Option<String>,
    /// Why it failed, as JSON.
    pub error: Option<String>,
    /// The recorder's last lines.
    pub log: Option<String>,
    /// The hash of its snapshot.
    pub snapshot: Option<String>,
}

/// The columns of a [`JobRow`].
pub(super) const COLUMNS: &str = "id, state, kind, priority, name, config, source, notes, created_ms, started_ms, finished_ms, \
    attempts, worker, beats, progress, result, error, log, snapshot";

/// Which part of the list of jobs is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Only those in this state.
    pub state: Option<JobState>,
    /// Only those that are older than this job.
    pub before: Option<String>,
    /// So many.
    pub limit: u32,
}

/// How many jobs of a kind are in a state.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Counts {
    /// What they run on.
    pub kind: String,
    /// The word of a [`JobState`].
    pub state: String,
    /// How many there are.
    pub jobs: i64,
}

/// What became of a job that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is gone, and so is what happened to it.
    Deleted,
    /// It waits or runs, and stays.
    NotOver,
    /// There is no such job.
    Unknown,
}

impl Database {
    /// A job.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn job(&self, id: &str) -> Result<Option<JobRow>> {
        let query = format!("SELECT {COLUMNS} FROM recording_jobs WHERE id = $1");
        Ok(on!(self, pool => sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(id).fetch_optional(pool).await)?)
    }

    /// A part of the list of jobs, the latest first.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn jobs(&self, page: &Page) -> Result<Vec<JobSummary>> {
        let query = format!(
            "{SUMMARIES} WHERE ($1 IS NULL OR j.state = $1) AND ($2 IS NULL OR j.id < $2) ORDER BY j.id DESC LIMIT $3"
        );
        let (state, before, limit) = (page.state.map(JobState::word), page.before.as_deref(), i64::from(page.limit));
        Ok(on!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(state).bind(before).bind(limit).fetch_all(pool).await
        })?)
    }

    /// What a list shows of a job.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn job_summary(&self, id: &str) -> Result<Option<JobSummary>> {
        let query = format!("{SUMMARIES} WHERE j.id = $1");
        Ok(on!(self, pool => sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(id).fetch_optional(pool).await)?)
    }

    /// How many jobs there are of each kind and state.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn job_counts(&self) -> Result<Vec<Counts>> {
        let query =
            "SELECT kind, state, COUNT(*) AS jobs FROM recording_jobs GROUP BY kind, state ORDER BY kind, state";
        Ok(on!(self, pool => sqlx::query_as(query).fetch_all(pool).await)?)
    }

    /// The memory of a job's recording over its events, as JSON; lists do without, so it is no part of a [`JobRow`].
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn job_curve(&self, id: &str) -> Result<Option<String>> {
        let query = "SELECT curve FROM recording_jobs WHERE id = $1";
        let row: Option<(Option<String>,)> =
            on!(self, pool => sqlx::query_as(query).bind(id).fetch_optional(pool).await)?;
        Ok(row.and_then(|(curve,)| curve))
    }

    /// Gives a job another name; returns whether there is such a job.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn rename_job(&self, id: &str, name: &str) -> Result<bool> {
        let query = "UPDATE recording_jobs SET name = $2 WHERE id = $1";
        let done = on!(self, pool => {
            sqlx::query(query).bind(id).bind(name).execute(pool).await.map(|done| done.rows_affected())
        })?;
        Ok(done > 0)
    }

    /// Deletes a job that is over, with its events; its snapshot is left to the sweeper, since links may refer to it.
    ///
    /// One that waits or runs stays: a worker may have it.
    ///
    /// # Errors
    ///
    /// The database fails; then the job is as it was.
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

    /// Forgets jobs that ended before a time, with their events; their snapshots are left to the sweeper.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn forget_jobs(&self, ended_before_ms: i64) -> Result<u64> {
        let query =
            "DELETE FROM recording_jobs WHERE finished_ms < $1 AND state IN ('finished', 'failed', 'cancelled')";
        Ok(
            on!(self, pool => sqlx::query(query).bind(ended_before_ms).execute(pool).await.map(|done| done.rows_affected()))?,
        )
    }
}
