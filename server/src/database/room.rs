//! Enforces the quota on stored snapshots and on the texts of jobs in the database.
//!
//! The limits are in the database so that all servers and workers on it share them.

use super::Result;
use super::pool::{Database, on};

/// The quota in bytes and the maximum number of queued jobs; `None` for no limit.
pub(super) type Limits = (Option<i64>, Option<i64>);

/// Reads the limits and locks their row, so that usage counted in this transaction stays valid until its end.
pub(super) const LIMITS: &str = "UPDATE room SET single = 1 RETURNING quota_bytes, most_waiting";

/// Query for the total bytes of snapshots and job texts.
pub(super) const USED: &str = "SELECT CAST(COALESCE((SELECT SUM(stored_bytes) FROM snapshots), 0) \
     + COALESCE((SELECT SUM(text_bytes) FROM recording_jobs), 0) AS BIGINT)";

/// Query for the bytes of job texts.
const OF_JOBS: &str = "SELECT CAST(COALESCE(SUM(text_bytes), 0) AS BIGINT) FROM recording_jobs";

/// Returns true if `bytes` more stay within the quota.
pub(super) fn fits(quota_bytes: Option<i64>, used_bytes: i64, bytes: i64) -> bool {
    quota_bytes.is_none_or(|quota_bytes| used_bytes.saturating_add(bytes) <= quota_bytes)
}

impl Database {
    /// Sets the quota for snapshots and jobs together, and the maximum number of queued jobs.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn set_limits(&self, quota_bytes: u64, most_waiting: u64) -> Result<()> {
        let [quota_bytes, most_waiting] =
            [quota_bytes, most_waiting].map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let query = "UPDATE room SET quota_bytes = $1, most_waiting = $2";
        on!(self, pool => sqlx::query(query).bind(quota_bytes).bind(most_waiting).execute(pool).await.map(drop))?;
        Ok(())
    }

    /// Returns the total bytes of snapshots and job texts.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn used_bytes(&self) -> Result<u64> {
        self.sum(USED).await
    }

    /// Returns the bytes of job texts, including their events.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn job_bytes(&self) -> Result<u64> {
        self.sum(OF_JOBS).await
    }

    /// Returns true if `bytes` more are within the quota at this moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
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
