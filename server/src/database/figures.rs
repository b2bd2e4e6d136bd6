//! Figures for whoever watches the server.

use super::{Database, Result, now_ms, on};

impl Database {
    /// How long the job that was submitted first of those that wait has waited, in milliseconds; 0 where none waits.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn oldest_wait_ms(&self) -> Result<u64> {
        let query = "SELECT MIN(created_ms) FROM recording_jobs WHERE state = 'queued'";
        let (oldest,): (Option<i64>,) = on!(self, pool => sqlx::query_as(query).fetch_one(pool).await)?;
        // A clock that was put back makes no wait negative.
        Ok(oldest.map_or(0, |oldest| now_ms().saturating_sub(oldest).try_into().unwrap_or(0)))
    }
}
