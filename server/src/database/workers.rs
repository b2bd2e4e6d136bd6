//! Stores the worker processes and the kinds of jobs that they take.

use sqlx::FromRow;

use super::pool::{Database, execute, rows};
use super::{Result, now_ms};

/// A worker process and one of its kinds of device.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct WorkerRow {
    pub name: String,
    /// Queue that it serves: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Time of its last sign of life by its own clock, in milliseconds since 1970.
    pub seen_ms: i64,
    /// Why it cannot record on this kind of device; `None` if it can.
    pub problem: Option<String>,
}

/// Time after its last sign of life at which a worker process is forgotten.
const KEPT_MS: i64 = 24 * 3600 * 1000;

impl Database {
    /// Deletes workers that have been silent for a day.
    pub async fn forget_workers(&self) -> Result<()> {
        Ok(execute!(self, "DELETE FROM recording_workers WHERE seen_ms < $1", now_ms() - KEPT_MS).map(drop)?)
    }

    /// Records that a worker now serves a kind, or the problem that keeps it from doing so.
    pub async fn worker_is_here(&self, name: &str, kind: &str, jobs: usize, problem: Option<&str>) -> Result<()> {
        let query = "INSERT INTO recording_workers (name, kind, jobs, seen_ms, problem) VALUES ($1, $2, $3, $4, $5) \
                     ON CONFLICT (name, kind) DO UPDATE SET seen_ms = $4, problem = $5";
        let jobs = i64::try_from(jobs).unwrap_or(i64::MAX);
        Ok(execute!(self, query, name, kind, jobs, now_ms(), problem).map(drop)?)
    }

    /// Deletes a worker that is stopping.
    pub async fn worker_is_gone(&self, name: &str) -> Result<()> {
        Ok(execute!(self, "DELETE FROM recording_workers WHERE name = $1", name).map(drop)?)
    }

    /// Reads all workers that have not deregistered; some of them may have died.
    pub async fn workers(&self) -> Result<Vec<WorkerRow>> {
        Ok(rows!(self, fetch_all, "SELECT name, kind, seen_ms, problem FROM recording_workers")?)
    }
}
