//! Snapshots between the database, which says what there is, and the store, which holds it.

use std::fmt;
use std::path::Path;

use uuid::Uuid;

use crate::database::{Database, DatabaseError};
use crate::store::{Store, StoreError};

/// Why a snapshot could not be kept or removed.
#[derive(Debug)]
pub enum SnapshotError {
    /// The database failed.
    Database(DatabaseError),
    /// The store failed.
    Store(StoreError),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SnapshotError {}

impl From<DatabaseError> for SnapshotError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for SnapshotError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Puts a file into the store and notes it in the database; `hash` is that of its bytes, and is not there yet.
///
/// # Errors
///
/// Database or store fail; what is left over in the store then, the housekeeper finds.
pub async fn keep(database: &Database, store: &Store, file: &Path, hash: &str) -> Result<(), SnapshotError> {
    let object = Store::name(hash, &Uuid::now_v7().simple().to_string());
    let bytes = store.put(&object, file).await?;
    let counts = database.add_snapshot(hash, &object, bytes).await?;
    if counts.object != object {
        // Somebody stored the same bytes meanwhile.
        let _ = store.remove(&object).await;
    }
    Ok(())
}
