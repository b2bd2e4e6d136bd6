//! Stores jobs, their events, snapshots and shares in SQLite or PostgreSQL.
//!
//! Both backends run the same SQL on different pools. The queue is the rows of queued jobs. Each method fails if the
//! database does; a transaction then has changed nothing.
//!
//! Invariant: a change is committed before it is answered with success, and the store holds whatever a row refers to.
//!
//! Invariant: all stored data, including the texts of jobs, is within the quota, whoever writes it.

mod events;
mod jobs;
mod lifecycle;
mod open;
mod pool;
mod shares;
mod snapshots;
mod submission;
mod workers;

pub use events::Event;
pub use jobs::{Counts, Deletion, JobDocuments, JobRow, JobSummary, NewJob, Page};
pub use lifecycle::{Claim, MOST_ATTEMPTS, Outcome};
pub use pool::Database;
pub use shares::{NewShare, ShareRow};
pub use snapshots::SnapshotRow;
pub use submission::Submission;
pub use workers::WorkerRow;

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns milliseconds since 1970, or 0 if the clock is set before that.
///
/// The value is for display and expiry only. Liveness is detected with counters, because clocks jump.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[derive(Debug)]
pub struct DatabaseError(Box<dyn std::error::Error + Send + Sync>);

pub type Result<T> = std::result::Result<T, DatabaseError>;

/// Error codes for a full disk: `SQLITE_FULL` of SQLite and `disk_full` of PostgreSQL.
const FULL: [&str; 2] = ["13", "53100"];

impl DatabaseError {
    /// Returns true if the operation failed because the disk is full.
    pub fn is_full(&self) -> bool {
        self.has(|error| error.code().is_some_and(|code| FULL.contains(&code.as_ref())))
    }

    /// Returns true if PostgreSQL is shutting down or starting, so that it may soon be there again.
    fn is_away(&self) -> bool {
        self.has(|error| error.code().is_some_and(|code| code.starts_with("57P")))
    }

    fn has(&self, is: impl Fn(&dyn sqlx::error::DatabaseError) -> bool) -> bool {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&*self.0);
        while let Some(error) = source {
            if let Some(sqlx::Error::Database(error)) = error.downcast_ref() {
                return is(&**error);
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
