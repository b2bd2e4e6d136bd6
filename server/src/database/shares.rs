//! Stores links: the snapshot, the view to restore, and the hashes of the tokens.

use sqlx::FromRow;

use super::pool::{Database, change, execute, rows};
use super::{Result, now_ms};

/// A link to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewShare {
    /// SHA-256 of the token.
    pub token_hash: String,
    /// SHA-256 of the token that deletes the link.
    pub delete_hash: String,
    /// Hash of the snapshot, which the store already holds.
    pub snapshot: String,
    pub title: String,
    /// View to restore, as JSON.
    pub view_state: String,
    /// Content of the preview, as JSON.
    pub digest: String,
    /// Expiry time, in milliseconds since 1970; `None` for no expiry.
    pub expires_ms: Option<i64>,
}

/// A stored link, joined with its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct ShareRow {
    pub snapshot: String,
    /// Name of the snapshot's object in the store.
    pub object: String,
    /// Size of the snapshot as stored, compressed.
    pub stored_bytes: i64,
    pub title: String,
    /// View to restore, as JSON.
    pub view_state: String,
    /// Content of the preview, as JSON.
    pub digest: String,
    /// Time of creation, in milliseconds since 1970.
    pub created_ms: i64,
    /// Expiry time, in milliseconds since 1970; `None` for no expiry.
    pub expires_ms: Option<i64>,
}

impl Database {
    /// Makes a link and thereby adds a reference to its snapshot.
    ///
    /// Returns false if the housekeeper has removed the snapshot in the meantime.
    pub async fn share(&self, share: &NewShare) -> Result<bool> {
        change!(self, transaction => {
            let held = sqlx::query("UPDATE snapshots SET touched_ms = $2 WHERE hash = $1")
                .bind(&share.snapshot).bind(now_ms())
                .execute(&mut *transaction)
                .await?
                .rows_affected() > 0;
            if held {
                sqlx::query(
                    "INSERT INTO shares (token_hash, delete_hash, snapshot, title, view_state, digest, created_ms, \
                     expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                )
                .bind(&share.token_hash).bind(&share.delete_hash).bind(&share.snapshot).bind(&share.title)
                .bind(&share.view_state).bind(&share.digest).bind(now_ms()).bind(share.expires_ms)
                .execute(&mut *transaction)
                .await?;
            }
            Ok(held)
        })
    }

    /// Returns the link of a token unless it has expired.
    pub async fn shared(&self, token_hash: &str) -> Result<Option<ShareRow>> {
        let query = "SELECT shares.snapshot, snapshots.object, snapshots.stored_bytes, title, view_state, digest, shares.created_ms, \
                     expires_ms FROM shares JOIN snapshots ON snapshots.hash = shares.snapshot \
                     WHERE token_hash = $1 AND (expires_ms IS NULL OR expires_ms > $2)";
        Ok(rows!(self, fetch_optional, query, token_hash, now_ms())?)
    }

    /// Deletes the link of a token if its deletion token matches.
    ///
    /// Returns false if there was no such link.
    pub async fn unshare(&self, token_hash: &str, delete_hash: &str) -> Result<bool> {
        let query = "DELETE FROM shares WHERE token_hash = $1 AND delete_hash = $2";
        Ok(execute!(self, query, token_hash, delete_hash)? > 0)
    }

    /// Deletes expired links and returns how many.
    pub async fn forget_expired(&self) -> Result<u64> {
        Ok(execute!(self, "DELETE FROM shares WHERE expires_ms <= $1", now_ms())?)
    }

    pub async fn share_count(&self) -> Result<u64> {
        self.sum("SELECT COUNT(*) FROM shares").await
    }

    /// Returns how long the oldest queued job has waited, in milliseconds; 0 if no job is queued.
    pub async fn oldest_wait_ms(&self) -> Result<u64> {
        let query = "SELECT MIN(created_ms) FROM recording_jobs WHERE state = 'queued'";
        let (oldest,): (Option<i64>,) = rows!(self, fetch_one, query)?;
        // The wait stays at 0 if the clock was set back.
        Ok(oldest.map_or(0, |oldest| now_ms().saturating_sub(oldest).try_into().unwrap_or(0)))
    }
}
