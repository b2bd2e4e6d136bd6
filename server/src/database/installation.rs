//! Stores the identity of the installation and the time of its last housekeeping round.

use uuid::Uuid;

use super::pool::{Database, on};
use super::{Result, now_ms};

impl Database {
    /// Returns the ID of this installation and makes it on first use; a dump of the database includes it.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn installation(&self) -> Result<String> {
        let insert =
            "INSERT INTO installation (single, id, kept_ms) VALUES (1, $1, $2) ON CONFLICT (single) DO NOTHING";
        let id = Uuid::now_v7().simple().to_string();
        on!(self, pool => sqlx::query(insert).bind(id).bind(now_ms()).execute(pool).await.map(drop))?;
        let (id,): (String,) = on!(self, pool => sqlx::query_as("SELECT id FROM installation").fetch_one(pool).await)?;
        Ok(id)
    }

    /// Returns the time of the last housekeeping round, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails or if [`installation`](Self::installation) was never called.
    pub async fn kept_ms(&self) -> Result<i64> {
        let (kept_ms,): (i64,) =
            on!(self, pool => sqlx::query_as("SELECT kept_ms FROM installation").fetch_one(pool).await)?;
        Ok(kept_ms)
    }

    /// Records that a housekeeping round takes place now.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn note_kept(&self) -> Result<()> {
        let update = "UPDATE installation SET kept_ms = $1";
        on!(self, pool => sqlx::query(update).bind(now_ms()).execute(pool).await.map(drop))?;
        Ok(())
    }
}
