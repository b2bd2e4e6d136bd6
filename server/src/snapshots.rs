//! Snapshots between the database, which says what there is, and the store, which holds it.

use std::fmt;
use std::path::Path;

use uuid::Uuid;

use crate::database::{Database, DatabaseError, SnapshotRow};
use crate::store::{Store, StoreError};

/// Why a snapshot could not be kept or removed.
#[derive(Debug)]
pub enum SnapshotError {
    /// The database failed.
    Database(DatabaseError),
    /// The store failed.
    Store(StoreError),
    /// The quota has no room for it.
    Full,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Full => f.write_str("the store holds as much as it may"),
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

/// Copies that are made until the store has one; a second one is needed next to never.
const MOST_COPIES: usize = 3;

/// Puts a file into the store and notes it in the database, unless the same bytes are there; `hash` is that of them.
///
/// Bytes that the store has lost are put there again, for whatever refers to them. A housekeeper whose clock has jumped
/// may take an object for a left-over until its row is there, so the object is looked for once more afterwards.
///
/// # Errors
///
/// The quota has no room for it, or database or store fail; what is left over in the store then, the housekeeper finds.
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

/// Copies a file into the store as a new object and notes that in the database; `lost` is the row of one that is gone.
async fn copy(
    database: &Database,
    store: &Store,
    file: &Path,
    hash: &str,
    lost: Option<&SnapshotRow>,
) -> Result<(), SnapshotError> {
    let object = Store::name(hash, &Uuid::now_v7().simple().to_string());
    let bytes = store.put(&object, file).await?;
    // Somebody may have stored the same bytes meanwhile, or others that took the room.
    let counts = match lost {
        Some(lost) => database.replace_object(hash, &lost.object, &object).await?,
        None => database.add_snapshot(hash, &object, bytes).await?,
    };
    if counts.as_ref().is_none_or(|counts| counts.object != object) {
        let _ = store.remove(&object).await;
    }
    // A row that was forgotten meanwhile is added in the next round.
    if counts.is_some() || lost.is_some() { Ok(()) } else { Err(SnapshotError::Full) }
}
