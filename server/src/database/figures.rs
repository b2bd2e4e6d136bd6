//! Computes figures for monitoring the server.

use super::pool::{Database, on};
use super::{Result, now_ms};

impl Database {
    /// Returns how long the oldest queued job has waited, in milliseconds; 0 if no job is queued.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn oldest_wait_ms(&self) -> Result<u64> {
        let query = "SELECT MIN(created_ms) FROM recording_jobs WHERE state = 'queued'";
        let (oldest,): (Option<i64>,) = on!(self, pool => sqlx::query_as(query).fetch_one(pool).await)?;
        // The wait stays at 0 if the clock was set back.
        Ok(oldest.map_or(0, |oldest| now_ms().saturating_sub(oldest).try_into().unwrap_or(0)))
    }
}
