//! Error type of database operations.

use std::fmt;

#[derive(Debug)]
pub struct DatabaseError(Box<dyn std::error::Error + Send + Sync>);

pub type Result<T> = std::result::Result<T, DatabaseError>;

/// Error codes for a full disk: `SQLITE_FULL` of SQLite and `disk_full` of PostgreSQL.
const FULL: [&str; 2] = ["13", "53100"];

impl DatabaseError {
    /// Makes the error for a database whose tables come from a later version.
    pub(super) fn later() -> Self {
        Self("its tables are from a later version of Snapscope: use that version, or restore a backup".into())
    }

    /// Makes the error for a file operation on a PostgreSQL server.
    pub(super) fn not_a_file() -> Self {
        Self("it is a PostgreSQL server: dump it with `pg_dump`".into())
    }

    /// Returns true if the operation failed because the disk is full.
    pub fn is_full(&self) -> bool {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&*self.0);
        while let Some(error) = source {
            if let Some(sqlx::Error::Database(error)) = error.downcast_ref() {
                return error.code().is_some_and(|code| FULL.contains(&code.as_ref()));
            }
            source = error.source();
        }
        false
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database failed: {}", self.0)
    }
}

impl std::error::Error for DatabaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.into())
    }
}

impl From<sqlx::migrate::MigrateError> for DatabaseError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self(error.into())
    }
}
