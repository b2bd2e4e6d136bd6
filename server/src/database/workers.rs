//! Which workers there are.

use super::{Database, Result, now_ms, on};

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

    /// The kinds of devices that workers have who were here since a time.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn kinds(&self, since_ms: i64) -> Result<Vec<String>> {
        let query = "SELECT DISTINCT kind FROM recording_workers WHERE seen_ms >= $1 ORDER BY kind DESC";
        let rows: Vec<(String,)> = on!(self, pool => sqlx::query_as(query).bind(since_ms).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(|(kind,)| kind).collect())
    }
}
