//! Stores jobs, their events, snapshots and shares in SQLite or PostgreSQL.
//!
//! Both backends run the same SQL on different pools. The queue is the rows of queued jobs.
//!
//! Invariant: a change is committed before it is answered with success, and the store holds whatever a row refers to.
//!
//! Invariant: all stored data, including the texts of jobs, is within the quota, whoever writes it.

mod clock;
mod error;
mod events;
mod figures;
mod installation;
mod jobs;
mod lifecycle;
mod open;
mod pool;
mod room;
mod shares;
mod snapshots;
mod submission;
mod workers;

pub use clock::now_ms;
pub use error::{DatabaseError, Result};
pub use events::Event;
pub use jobs::{Counts, Deletion, JobDocuments, JobRow, JobSummary, NewJob, Page};
pub use lifecycle::{Claim, MOST_ATTEMPTS, Outcome};
pub use pool::Database;
pub use shares::{NewShare, ShareRow};
pub use snapshots::SnapshotRow;
pub use submission::Submission;
pub use workers::WorkerRow;
