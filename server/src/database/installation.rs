//! Which installation a database belongs to, and when its house was last kept.

use uuid::Uuid;

use super::{Database, Result, now_ms, on};

impl Database {
    /// The name of this installation, made the first time; a dump of the database has it too.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn installation(&self) -> Result<String> {
        let insert =
            "INSERT INTO installation (single, id, kept_ms) VALUES (1, $1, $2) ON CONFLICT (single) DO NOTHING";
        let id = Uuid::now_v7().simple().to_string();
        on!(self, pool => sqlx::query(insert).bind(id).bind(now_ms()).execute(pool).await.map(drop))?;
        let (id,): (String,) = on!(self, pool => sqlx::query_as("SELECT id FROM installation").fetch_one(pool).await)?;
        Ok(id)
    }

    /// When the housekeeper last went its round, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// The database fails, or [`installation`](Self::installation) was never asked for.
    pub async fn kept_ms(&self) -> Result<i64> {
        let (kept_ms,): (i64,) =
            on!(self, pool => sqlx::query_as("SELECT kept_ms FROM installation").fetch_one(pool).await)?;
        Ok(kept_ms)
    }

    /// Notes that the housekeeper went its round.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn note_kept(&self) -> Result<()> {
        let update = "UPDATE installation SET kept_ms = $1";
        on!(self, pool => sqlx::query(update).bind(now_ms()).execute(pool).await.map(drop))?;
        Ok(())
    }
}
