//! Manages the tasks in apalis's queue, one for each time that a job becomes `queued`.

use apalis::prelude::TaskBuilder;

use super::{Database, Result, now_ms, on};

/// Time after its last sign of life at which a worker process is forgotten.
const WORKERS_KEPT_MS: i64 = 24 * 3600 * 1000;

/// Like `change`, but also pushes a task if the body returns the kind and priority of a job to enqueue.
macro_rules! change_and_enqueue {
    ($database:expr, $job:expr, $transaction:ident => $body:expr) => {
        match $database {
            Database::Sqlite(pool) => {
                let mut $transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
                let (queued, result): (Option<(String, i64)>, _) = $body;
                if let Some((kind, priority)) = queued {
                    let task = $crate::database::queue::task($job, priority);
                    apalis_sqlite::queries::push_tasks(&mut *$transaction, &kind, &[task]).await?;
                }
                $transaction.commit().await?;
                result
            }
            Database::Postgres(pool) => {
                let mut $transaction = pool.begin().await?;
                let (queued, result): (Option<(String, i64)>, _) = $body;
                if let Some((kind, priority)) = queued {
                    let task = $crate::database::queue::task($job, priority);
                    apalis_postgres::queries::push_tasks(&mut *$transaction, &kind, vec![task]).await?;
                }
                $transaction.commit().await?;
                result
            }
        }
    };
}

pub(super) use change_and_enqueue;

/// Builds the queue task of a job, whose payload is the job's ID as JSON.
///
/// The number of attempts is unlimited, because the job's row says whether work is left and a task that gave up earlier
/// would leave the job queued for ever. The due time is 0, because a due time from a clock that runs ahead would delay
/// it.
pub(super) fn task(job: &str, priority: i64) -> apalis::prelude::Task<Vec<u8>> {
    let bytes = serde_json::to_vec(job).expect("a text can be written");
    let priority = usize::try_from(priority).unwrap_or(0);
    TaskBuilder::new(bytes).priority(priority).max_attempts(i32::MAX as usize).run_at_timestamp(0).build()
}

/// Statements that delete finished tasks, for SQLite and for PostgreSQL.
const FORGET_TASKS: [&str; 2] = [
    "DELETE FROM Jobs WHERE status IN ('Done', 'Killed')",
    "DELETE FROM apalis.jobs WHERE status IN ('Done', 'Killed')",
];

/// Statements that delete silent apalis workers without locked tasks, which others must still take over.
const FORGET_WORKERS: [&str; 2] = [
    "DELETE FROM Workers WHERE last_seen < $1 / 1000 \
     AND NOT EXISTS (SELECT 1 FROM Jobs WHERE Jobs.lock_by = Workers.id)",
    "DELETE FROM apalis.workers w WHERE last_seen < to_timestamp($1::BIGINT / 1000) \
     AND NOT EXISTS (SELECT 1 FROM apalis.jobs WHERE lock_by = w.id)",
];

impl Database {
    /// Deletes finished tasks and workers that have been silent for a day, and returns the number of tasks.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn forget_tasks(&self) -> Result<u64> {
        let silent_since = now_ms() - WORKERS_KEPT_MS;
        let of_backend = |queries: [&'static str; 2]| match self {
            Self::Sqlite(_) => queries[0],
            Self::Postgres(_) => queries[1],
        };
        let (tasks, workers) = (of_backend(FORGET_TASKS), of_backend(FORGET_WORKERS));
        let ours = "DELETE FROM recording_workers WHERE seen_ms < $1";
        Ok(on!(self, pool => {
            let tasks = sqlx::query(tasks).execute(pool).await?.rows_affected();
            sqlx::query(workers).bind(silent_since).execute(pool).await?;
            sqlx::query(ours).bind(silent_since).execute(pool).await?;
            tasks
        }))
    }
}
