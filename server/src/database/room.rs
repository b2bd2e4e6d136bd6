//! How much is kept, against how much may be: snapshots in the store, and what jobs have in the database itself.
//!
//! The limits stand in the database, so that all servers and workers on it go by the same ones.

use super::{Database, Result, on};

/// The quota in bytes and the most jobs that may wait; `None` for any number.
pub(super) type Limits = (Option<i64>, Option<i64>);

/// Reads the limits inside a change. Whoever else does so waits for its end: what is counted stays so until then.
pub(super) const LIMITS: &str = "UPDATE room SET single = 1 RETURNING quota_bytes, most_waiting";

/// What snapshots and the texts of jobs have together, in bytes.
pub(super) const USED: &str = "SELECT CAST(COALESCE((SELECT SUM(stored_bytes) FROM snapshots), 0) \
     + COALESCE((SELECT SUM(text_bytes) FROM recording_jobs), 0) AS BIGINT)";

/// What the texts of jobs have, in bytes.
const OF_JOBS: &str = "SELECT CAST(COALESCE(SUM(text_bytes), 0) AS BIGINT) FROM recording_jobs";

/// Whether so many bytes more are within the quota.
pub(super) fn fits(quota_bytes: Option<i64>, used_bytes: i64, bytes: i64) -> bool {
    quota_bytes.is_none_or(|quota_bytes| used_bytes.saturating_add(bytes) <= quota_bytes)
}

impl Database {
    /// Sets the most bytes that snapshots and jobs may have together, and the most jobs that may wait.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn set_limits(&self, quota_bytes: u64, most_waiting: u64) -> Result<()> {
        let [quota_bytes, most_waiting] =
            [quota_bytes, most_waiting].map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let query = "UPDATE room SET quota_bytes = $1, most_waiting = $2";
        on!(self, pool => sqlx::query(query).bind(quota_bytes).bind(most_waiting).execute(pool).await.map(drop))?;
        Ok(())
    }

    /// Bytes of all snapshots and of all texts of jobs.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn used_bytes(&self) -> Result<u64> {
        self.sum(USED).await
    }

    /// Bytes of all texts of jobs, their events included.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn job_bytes(&self) -> Result<u64> {
        self.sum(OF_JOBS).await
    }

    /// Whether so many bytes more are within the quota at this moment.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn has_room(&self, bytes: u64) -> Result<bool> {
        let (quota_bytes,): (Option<i64>,) =
            on!(self, pool => sqlx::query_as("SELECT quota_bytes FROM room").fetch_one(pool).await)?;
        let used_bytes = self.used_bytes().await?.try_into().unwrap_or(i64::MAX);
        Ok(fits(quota_bytes, used_bytes, bytes.try_into().unwrap_or(i64::MAX)))
    }

    async fn sum(&self, query: &'static str) -> Result<u64> {
        let (bytes,): (i64,) = on!(self, pool => sqlx::query_as(query).fetch_one(pool).await)?;
        Ok(bytes.try_into().unwrap_or(0))
    }
}
