//! Runs statements and transactions on the pool of either backend.

use std::path::Path;

use sqlx::{PgPool, SqlitePool};

use super::{DatabaseError, Result};

/// A pool of connections to one of the two backends.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file next to the server.
    Sqlite(SqlitePool),
    /// A server that several machines may share.
    Postgres(PgPool),
}

/// Runs the same statements on either kind of pool.
macro_rules! on {
    ($database:expr, $pool:ident => $body:expr) => {
        match $database {
            $crate::database::Database::Sqlite($pool) => $body,
            $crate::database::Database::Postgres($pool) => $body,
        }
    };
}
pub(super) use on;

/// Queries rows with values in the order of their numbers: `rows!(self, fetch_all, query, first, second)`.
macro_rules! rows {
    ($database:expr, $fetch:ident, $query:expr $(, $value:expr)*) => {
        $crate::database::pool::on!($database, pool => sqlx::query_as($query)$(.bind($value))*.$fetch(pool).await)
    };
}
pub(super) use rows;

/// Executes a statement with values in the order of their numbers, and returns the number of rows that it changed.
macro_rules! execute {
    ($database:expr, $statement:expr $(, $value:expr)*) => {
        $crate::database::pool::on!($database, pool => {
            sqlx::query($statement)$(.bind($value))*.execute(pool).await.map(|done| done.rows_affected())
        })
    };
}
pub(super) use execute;

/// Runs several statements as one transaction, which is rolled back if the body fails or is dropped.
///
/// SQLite begins with a write lock, because a transaction that needs one later may fail and have to restart.
macro_rules! change {
    ($database:expr, $transaction:ident => $body:expr) => {
        match $database {
            $crate::database::Database::Sqlite(pool) => {
                let mut $transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
            $crate::database::Database::Postgres(pool) => {
                let mut $transaction = pool.begin().await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
        }
    };
}
pub(super) use change;

impl Database {
    /// Copies a SQLite database into a new file as of this moment, without blocking writers.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails, if the file exists, or if this is a PostgreSQL server, which has its own
    /// tools.
    pub async fn copy_to(&self, path: &Path) -> Result<()> {
        match self {
            Self::Sqlite(pool) => {
                sqlx::query("VACUUM INTO $1").bind(path.to_string_lossy().into_owned()).execute(pool).await?;
                Ok(())
            }
            Self::Postgres(_) => Err(DatabaseError("it is a PostgreSQL server: dump it with `pg_dump`".into())),
        }
    }

    /// Checks that the database answers.
    pub async fn ping(&self) -> Result<()> {
        Ok(execute!(self, "SELECT 1").map(drop)?)
    }

    /// Closes all connections once their current work is done.
    pub async fn close(&self) {
        on!(self, pool => pool.close().await);
    }
}
