//! Which snapshots the store holds.

use sqlx::FromRow;

use super::room::{LIMITS, Limits, USED, fits};
use super::{Database, Result, change, now_ms, on};

/// A stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct SnapshotRow {
    /// SHA-256 of the stored bytes, in hexadecimal.
    pub hash: String,
    /// The object's name in the store.
    pub object: String,
    /// Bytes as stored.
    pub stored_bytes: i64,
    /// When it was stored first, in milliseconds since 1970.
    pub created_ms: i64,
}

/// Notes that something is about to refer to a snapshot.
const TOUCH: &str =
    "UPDATE snapshots SET touched_ms = $2 WHERE hash = $1 RETURNING hash, object, stored_bytes, created_ms";

impl Database {
    /// The snapshot with this hash, if the store holds it; something is about to refer to it.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn touch_snapshot(&self, hash: &str) -> Result<Option<SnapshotRow>> {
        Ok(on!(self, pool => sqlx::query_as(TOUCH).bind(hash).bind(now_ms()).fetch_optional(pool).await)?)
    }

    /// Notes that the store holds a snapshot as this object, if the quota has room for it.
    ///
    /// Returns the row that counts: somebody else may have stored the same bytes meanwhile. `None` where there is no
    /// room.
    ///
    /// # Errors
    ///
    /// The database fails.
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

    /// Notes that the store holds a snapshot as another object than the one that it has lost.
    ///
    /// Returns the row that counts: somebody else may have done so. `None` where the snapshot is forgotten.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn replace_object(&self, hash: &str, lost: &str, object: &str) -> Result<Option<SnapshotRow>> {
        let query = "UPDATE snapshots SET object = CASE WHEN object = $2 THEN $3 ELSE object END WHERE hash = $1 \
                     RETURNING hash, object, stored_bytes, created_ms";
        Ok(on!(self, pool => {
            sqlx::query_as(query).bind(hash).bind(lost).bind(object).fetch_optional(pool).await
        })?)
    }

    /// All stored snapshots, by hash.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn snapshots(&self) -> Result<Vec<SnapshotRow>> {
        let query = "SELECT hash, object, stored_bytes, created_ms FROM snapshots ORDER BY hash";
        Ok(on!(self, pool => sqlx::query_as(query).fetch_all(pool).await)?)
    }

    /// A stored snapshot.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn snapshot(&self, hash: &str) -> Result<Option<SnapshotRow>> {
        let query = "SELECT hash, object, stored_bytes, created_ms FROM snapshots WHERE hash = $1";
        Ok(on!(self, pool => sqlx::query_as(query).bind(hash).fetch_optional(pool).await)?)
    }

    /// Bytes of all stored snapshots.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn stored_bytes(&self) -> Result<u64> {
        let query = "SELECT CAST(COALESCE(SUM(stored_bytes), 0) AS BIGINT) FROM snapshots";
        let (bytes,): (i64,) = on!(self, pool => sqlx::query_as(query).fetch_one(pool).await)?;
        Ok(bytes.try_into().unwrap_or(0))
    }

    /// Snapshots that nothing refers to and nothing has referred to since a time.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn unreferenced(&self, untouched_since_ms: i64, most: i64) -> Result<Vec<String>> {
        let query = "SELECT hash FROM snapshots s WHERE touched_ms < $1 \
                     AND NOT EXISTS (SELECT 1 FROM shares WHERE snapshot = s.hash) \
                     AND NOT EXISTS (SELECT 1 FROM recording_jobs WHERE snapshot = s.hash) LIMIT $2";
        let rows: Vec<(String,)> =
            on!(self, pool => sqlx::query_as(query).bind(untouched_since_ms).bind(most).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(|(hash,)| hash).collect())
    }

    /// Takes a snapshot's row out, if nothing refers to it still; its object, which is returned, may go after that.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn forget_snapshot(&self, hash: &str, untouched_since_ms: i64) -> Result<Option<String>> {
        let query = "DELETE FROM snapshots WHERE hash = $1 AND touched_ms < $2 \
                     AND NOT EXISTS (SELECT 1 FROM shares WHERE snapshot = $1) \
                     AND NOT EXISTS (SELECT 1 FROM recording_jobs WHERE snapshot = $1) RETURNING object";
        let row: Option<(String,)> =
            on!(self, pool => sqlx::query_as(query).bind(hash).bind(untouched_since_ms).fetch_optional(pool).await)?;
        Ok(row.map(|(object,)| object))
    }

    /// Whether a row says that the store holds this object.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn knows_object(&self, object: &str) -> Result<bool> {
        let query = "SELECT COUNT(*) FROM snapshots WHERE object = $1";
        let (count,): (i64,) = on!(self, pool => sqlx::query_as(query).bind(object).fetch_one(pool).await)?;
        Ok(count > 0)
    }
}
