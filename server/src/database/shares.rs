//! Links: who may open which snapshot, and how it looks then.

use sqlx::FromRow;

use super::{Database, Result, change, now_ms, on};

/// A link that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewShare {
    /// SHA-256 of the token.
    pub token_hash: String,
    /// SHA-256 of the token that deletes it.
    pub delete_hash: String,
    /// The hash of its snapshot, which the store holds already.
    pub snapshot: String,
    /// What people call it.
    pub title: String,
    /// The view that it restores, as JSON.
    pub view_state: String,
    /// What a preview shows, as JSON.
    pub digest: String,
    /// When it ends, in milliseconds since 1970; `None` for never.
    pub expires_ms: Option<i64>,
}

/// A link as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct ShareRow {
    /// The hash of its snapshot.
    pub snapshot: String,
    /// The object's name in the store.
    pub object: String,
    /// Bytes of the snapshot as stored.
    pub stored_bytes: i64,
    /// What people call it.
    pub title: String,
    /// The view that it restores, as JSON.
    pub view_state: String,
    /// What a preview shows, as JSON.
    pub digest: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends; `None` for never.
    pub expires_ms: Option<i64>,
}

impl Database {
    /// Makes a link; its snapshot is referred to from then on.
    ///
    /// Returns whether it did: not where the sweeper took the snapshot away in between.
    ///
    /// # Errors
    ///
    /// The database fails.
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

    /// The link of a token, if it has not ended.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn shared(&self, token_hash: &str) -> Result<Option<ShareRow>> {
        let query = "SELECT shares.snapshot, snapshots.object, snapshots.stored_bytes, title, view_state, digest, shares.created_ms, \
                     expires_ms FROM shares JOIN snapshots ON snapshots.hash = shares.snapshot \
                     WHERE token_hash = $1 AND (expires_ms IS NULL OR expires_ms > $2)";
        Ok(on!(self, pool => sqlx::query_as(query).bind(token_hash).bind(now_ms()).fetch_optional(pool).await)?)
    }

    /// Deletes the link of a token with the token that it was given for that.
    ///
    /// Returns whether there was one.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn unshare(&self, token_hash: &str, delete_hash: &str) -> Result<bool> {
        let query = "DELETE FROM shares WHERE token_hash = $1 AND delete_hash = $2";
        let done = on!(self, pool => {
            sqlx::query(query).bind(token_hash).bind(delete_hash).execute(pool).await.map(|done| done.rows_affected())
        })?;
        Ok(done > 0)
    }

    /// Deletes the links that have ended.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn forget_expired(&self) -> Result<u64> {
        let query = "DELETE FROM shares WHERE expires_ms <= $1";
        Ok(on!(self, pool => sqlx::query(query).bind(now_ms()).execute(pool).await.map(|done| done.rows_affected()))?)
    }

    /// How many links there are.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn share_count(&self) -> Result<u64> {
        let (count,): (i64,) = on!(self, pool => sqlx::query_as("SELECT COUNT(*) FROM shares").fetch_one(pool).await)?;
        Ok(count.try_into().unwrap_or(0))
    }
}
