//! Keeps snapshots consistent between the database, which lists them, and the store, which holds them.
//!
//! An object is stored before its row, and a row removed before its object.

use std::fmt;
use std::path::Path;

use uuid::Uuid;

use crate::database::{Database, DatabaseError, SnapshotRow};
use crate::store::{Store, StoreError};

/// Reason why a snapshot could not be kept or removed.
#[derive(Debug)]
pub enum SnapshotError {
    Database(DatabaseError),
    Store(StoreError),
    /// The snapshot exceeds the quota.
    Full,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Full => f.write_str("the quota of the store is used up"),
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

/// Maximum number of copies until the store has one; a second one is hardly ever needed.
const MOST_COPIES: usize = 3;

/// Puts a file into the store and adds its row, unless the same bytes are there; `hash` is their SHA-256.
///
/// Bytes that the store has lost are stored again for whatever refers to them. The housekeeper may remove a new object
/// before its row is added if its clock has jumped, so the object is checked once more after the row is there.
///
/// # Errors
///
/// Returns an error if the quota is exhausted or if the database or the store fails. The housekeeper later removes any
/// object left in the store.
pub async fn keep(database: &Database, store: &Store, file: &Path, hash: &str) -> Result<(), SnapshotError> {
    for _ in 0..MOST_COPIES {
        let known = database.touch_snapshot(hash).await?;
        match &known {
            Some(known) if store.size(&known.object).await?.is_some() => return Ok(()),
            Some(_) => {}
            None => {
                let file_bytes = tokio::fs::metadata(file).await.map_err(StoreError::from)?.len();
                database.has_room(file_bytes).await?.then_some(()).ok_or(SnapshotError::Full)?;
            }
        }
        copy(database, store, file, hash, known.as_ref()).await?;
    }
    Err(SnapshotError::Store(StoreError::lost(hash)))
}

/// Copies a file into the store as a new object and records it; `lost` is the row whose object is missing.
async fn copy(
    database: &Database,
    store: &Store,
    file: &Path,
    hash: &str,
    lost: Option<&SnapshotRow>,
) -> Result<(), SnapshotError> {
    let object = Store::name(hash, &Uuid::now_v7().simple().to_string());
    let bytes = store.put(&object, file).await?;
    // In the meantime, the same bytes may have been stored, or others may have used up the quota.
    let counts = match lost {
        Some(lost) => database.replace_object(hash, &lost.object, &object).await?,
        None => database.add_snapshot(hash, &object, bytes).await?,
    };
    if counts.as_ref().is_none_or(|counts| counts.object != object) {
        let _ = store.remove(&object).await;
    }
    // If the row of a lost object was deleted in the meantime, the next iteration adds it again.
    if counts.is_some() || lost.is_some() { Ok(()) } else { Err(SnapshotError::Full) }
}
