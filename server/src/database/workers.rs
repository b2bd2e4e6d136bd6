//! Which workers there are.

use sqlx::FromRow;

use super::{Database, Result, now_ms, on};

/// A worker and one kind of device that it has.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct WorkerRow {
    /// A name that no other worker has.
    pub name: String,
    /// What it records on.
    pub kind: String,
    /// When it showed last that it is there, by its own clock, in milliseconds since 1970.
    pub seen_ms: i64,
}

impl Database {
    /// Notes that a worker takes jobs of a kind at this time.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn worker_is_here(&self, name: &str, kind: &str, jobs: usize) -> Result<()> {
        let query = "INSERT INTO recording_workers (name, kind, jobs, seen_ms) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (name, kind) DO UPDATE SET seen_ms = $4";
        let jobs = i64::try_from(jobs).unwrap_or(i64::MAX);
        on!(self, pool => {
            sqlx::query(query).bind(name).bind(kind).bind(jobs).bind(now_ms()).execute(pool).await.map(drop)
        })?;
        Ok(())
    }

    /// Forgets a worker that stops.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn worker_is_gone(&self, name: &str) -> Result<()> {
        let query = "DELETE FROM recording_workers WHERE name = $1";
        on!(self, pool => sqlx::query(query).bind(name).execute(pool).await.map(drop))?;
        Ok(())
    }

    /// All workers that have not stopped by themselves: some of them may have died.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn workers(&self) -> Result<Vec<WorkerRow>> {
        let query = "SELECT name, kind, seen_ms FROM recording_workers";
        Ok(on!(self, pool => sqlx::query_as(query).fetch_all(pool).await)?)
    }
}
