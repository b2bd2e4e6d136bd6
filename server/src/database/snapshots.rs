//! Stores which snapshots the object store holds.

use sqlx::FromRow;

use super::pool::{Database, change, execute, rows};
use super::{Result, now_ms};

#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct SnapshotRow {
    /// SHA-256 of the stored bytes, in hexadecimal.
    pub hash: String,
    /// Name of the object in the store.
    pub object: String,
    /// Size as stored, compressed.
    pub stored_bytes: i64,
    /// Time when it was first stored, in milliseconds since 1970.
    pub created_ms: i64,
}

/// Statement that keeps a snapshot from removal because something is about to refer to it.
const TOUCH: &str =
    "UPDATE snapshots SET touched_ms = $2 WHERE hash = $1 RETURNING hash, object, stored_bytes, created_ms";

impl Database {
    /// Returns the snapshot with this hash and marks it as about to be referred to.
    pub async fn touch_snapshot(&self, hash: &str) -> Result<Option<SnapshotRow>> {
        Ok(rows!(self, fetch_optional, TOUCH, hash, now_ms())?)
    }

    /// Records that the store holds a snapshot as this object, if the quota allows it.
    ///
    /// Returns the row in effect, which may name another object if the same bytes were stored concurrently, or `None`
    /// if the quota is exhausted.
    pub async fn add_snapshot(&self, hash: &str, object: &str, stored_bytes: u64) -> Result<Option<SnapshotRow>> {
        let insert = "INSERT INTO snapshots (hash, object, stored_bytes, created_ms, touched_ms) \
                      VALUES ($1, $2, $3, $4, $4) RETURNING hash, object, stored_bytes, created_ms";
        let bytes = i64::try_from(stored_bytes).unwrap_or(i64::MAX);
        change!(self, transaction => {
            let (quota_bytes, _): Limits = sqlx::query_as(LIMITS).fetch_one(&mut *transaction).await?;
            let known = sqlx::query_as(TOUCH).bind(hash).bind(now_ms()).fetch_optional(&mut *transaction).await?;
            let (used_bytes,): (i64,) = sqlx::query_as(USED).fetch_one(&mut *transaction).await?;
            if known.is_some() || !fits(quota_bytes, used_bytes, bytes) {
                Ok(known)
            } else {
                let insert = sqlx::query_as(insert).bind(hash).bind(object).bind(bytes).bind(now_ms());
                Ok(Some(insert.fetch_one(&mut *transaction).await?))
            }
        })
    }

    /// Replaces the object of a snapshot after the store has lost it.
    ///
    /// Returns the row in effect, which names another object if somebody else replaced it first, or `None` if the
    /// snapshot was deleted.
    pub async fn replace_object(&self, hash: &str, lost: &str, object: &str) -> Result<Option<SnapshotRow>> {
        let query = "UPDATE snapshots SET object = CASE WHEN object = $2 THEN $3 ELSE object END WHERE hash = $1 \
                     RETURNING hash, object, stored_bytes, created_ms";
        Ok(rows!(self, fetch_optional, query, hash, lost, object)?)
    }

    /// Reads all snapshots, ordered by hash.
    pub async fn snapshots(&self) -> Result<Vec<SnapshotRow>> {
        let query = "SELECT hash, object, stored_bytes, created_ms FROM snapshots ORDER BY hash";
        Ok(rows!(self, fetch_all, query)?)
    }

    pub async fn snapshot(&self, hash: &str) -> Result<Option<SnapshotRow>> {
        let query = "SELECT hash, object, stored_bytes, created_ms FROM snapshots WHERE hash = $1";
        Ok(rows!(self, fetch_optional, query, hash)?)
    }

    pub async fn stored_bytes(&self) -> Result<u64> {
        self.sum("SELECT CAST(COALESCE(SUM(stored_bytes), 0) AS BIGINT) FROM snapshots").await
    }

    /// Returns at most `most` hashes of snapshots without a reference that were last touched before a time.
    pub async fn unreferenced(&self, untouched_since_ms: i64, most: i64) -> Result<Vec<String>> {
        let query = "SELECT hash FROM snapshots s WHERE touched_ms < $1 \
                     AND NOT EXISTS (SELECT 1 FROM shares WHERE snapshot = s.hash) \
                     AND NOT EXISTS (SELECT 1 FROM recording_jobs WHERE snapshot = s.hash) LIMIT $2";
        let rows: Vec<(String,)> = rows!(self, fetch_all, query, untouched_since_ms, most)?;
        Ok(rows.into_iter().map(|(hash,)| hash).collect())
    }

    /// Deletes a snapshot's row if it is still unreferenced, and returns its object, which may then be removed.
    pub async fn forget_snapshot(&self, hash: &str, untouched_since_ms: i64) -> Result<Option<String>> {
        let query = "DELETE FROM snapshots WHERE hash = $1 AND touched_ms < $2 \
                     AND NOT EXISTS (SELECT 1 FROM shares WHERE snapshot = $1) \
                     AND NOT EXISTS (SELECT 1 FROM recording_jobs WHERE snapshot = $1) RETURNING object";
        let row: Option<(String,)> = rows!(self, fetch_optional, query, hash, untouched_since_ms)?;
        Ok(row.map(|(object,)| object))
    }

    /// Returns true if a snapshot's row names this object.
    pub async fn knows_object(&self, object: &str) -> Result<bool> {
        let query = "SELECT COUNT(*) FROM snapshots WHERE object = $1";
        let (count,): (i64,) = rows!(self, fetch_one, query, object)?;
        Ok(count > 0)
    }
}

/// The quota in bytes and the maximum number of queued jobs; `None` for no limit.
pub(super) type Limits = (Option<i64>, Option<i64>);

/// Reads the limits and locks their row, so that usage counted in this transaction stays valid until its end.
pub(super) const LIMITS: &str = "UPDATE room SET single = 1 RETURNING quota_bytes, most_waiting";

/// Query for the total bytes of snapshots and job texts.
pub(super) const USED: &str = "SELECT CAST(COALESCE((SELECT SUM(stored_bytes) FROM snapshots), 0) \
     + COALESCE((SELECT SUM(text_bytes) FROM recording_jobs), 0) AS BIGINT)";

/// Returns true if `bytes` more stay within the quota.
pub(super) fn fits(quota_bytes: Option<i64>, used_bytes: i64, bytes: i64) -> bool {
    quota_bytes.is_none_or(|quota_bytes| used_bytes.saturating_add(bytes) <= quota_bytes)
}

impl Database {
    /// Sets the quota for snapshots and jobs together, and the maximum number of queued jobs.
    pub async fn set_limits(&self, quota_bytes: u64, most_waiting: u64) -> Result<()> {
        let [quota_bytes, most_waiting] =
            [quota_bytes, most_waiting].map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let query = "UPDATE room SET quota_bytes = $1, most_waiting = $2";
        Ok(execute!(self, query, quota_bytes, most_waiting).map(drop)?)
    }

    /// Returns the total bytes of snapshots and job texts.
    pub async fn used_bytes(&self) -> Result<u64> {
        self.sum(USED).await
    }

    /// Returns the bytes of job texts, including their events.
    pub async fn job_bytes(&self) -> Result<u64> {
        self.sum("SELECT CAST(COALESCE(SUM(text_bytes), 0) AS BIGINT) FROM recording_jobs").await
    }

    /// Returns true if `bytes` more are within the quota at this moment.
    pub async fn has_room(&self, bytes: u64) -> Result<bool> {
        let (quota_bytes,): (Option<i64>,) = rows!(self, fetch_one, "SELECT quota_bytes FROM room")?;
        let used_bytes = self.used_bytes().await?.try_into().unwrap_or(i64::MAX);
        Ok(fits(quota_bytes, used_bytes, bytes.try_into().unwrap_or(i64::MAX)))
    }

    /// Returns the number that a query has as its only row.
    pub(super) async fn sum(&self, query: &'static str) -> Result<u64> {
        let (sum,): (i64,) = rows!(self, fetch_one, query)?;
        Ok(sum.try_into().unwrap_or(0))
    }
}
