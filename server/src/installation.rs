//! Whether database and store belong together.
//!
//! The housekeeper removes objects that the database does not know. Under a database of another installation, an empty
//! one for example whose name was mistyped, that would be all of them, so that nothing starts before this is settled.

use futures_util::TryStreamExt as _;

use crate::config::DatabaseAddress;
use crate::database::Database;
use crate::failure::Failure;
use crate::snapshots::SnapshotError;
use crate::store::{Store, StoreAddress};

/// Objects that are looked at to see whether a database knows a store that nobody has named yet.
const MOST_LOOKED_AT: usize = 100;

/// What a store says of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belonging {
    /// It is this database's.
    Own,
    /// It has no name yet, and either nothing in it or something that the database knows.
    New,
    /// It has the name of another installation.
    Other,
    /// It has no name, and nothing in it that the database knows.
    Unknown,
}

/// Opens a database and a store, which have to belong together.
///
/// # Errors
///
/// Either does not answer, or the store belongs to another database.
pub async fn open(at: &DatabaseAddress, store_at: &StoreAddress) -> Result<(Database, Store), Failure> {
    let database = Database::connect(at).await?;
    let store = Store::connect(store_at).await?;
    let joined = join(&database, &store).await;
    let joined = joined.map_err(|error| Failure::new(error.to_string(), "check that database and store answer"))?;
    joined.map_err(|belonging| refusal(belonging, at, store_at))?;
    Ok((database, store))
}

/// Looks whether they belong together, and gives a store without a name that of the database.
///
/// # Errors
///
/// Database or store fail; the inner error says that they do not belong together.
pub async fn join(database: &Database, store: &Store) -> Result<Result<(), Belonging>, SnapshotError> {
    let belonging = belonging(database, store).await?;
    match belonging {
        Belonging::Own => Ok(Ok(())),
        Belonging::New => {
            store.set_installation(&database.installation().await?).await?;
            // Of two that begin with one store at the same time, one has named it.
            Ok(match self::belonging(database, store).await? {
                Belonging::Own => Ok(()),
                other => Err(other),
            })
        }
        Belonging::Other | Belonging::Unknown => Ok(Err(belonging)),
    }
}

/// Whether a store is a database's.
///
/// # Errors
///
/// Database or store fail.
pub async fn belonging(database: &Database, store: &Store) -> Result<Belonging, SnapshotError> {
    let own = database.installation().await?;
    if let Some(name) = store.installation().await? {
        return Ok(if name == own { Belonging::Own } else { Belonging::Other });
    }
    // Stores of earlier versions have no name.
    let mut list = store.list();
    let mut looked_at = 0;
    while let Some(listed) = list.try_next().await? {
        if database.knows_object(&listed.object).await? {
            return Ok(Belonging::New);
        }
        looked_at += 1;
        if looked_at >= MOST_LOOKED_AT {
            break;
        }
    }
    Ok(if looked_at == 0 { Belonging::New } else { Belonging::Unknown })
}

fn refusal(belonging: Belonging, database: &DatabaseAddress, store: &StoreAddress) -> Failure {
    let whose = match belonging {
        Belonging::Unknown => "holds snapshots that this database does not know",
        _ => "belongs to another database",
    };
    Failure::new(
        format!("the store at {store} {whose}, {database}; nothing was changed"),
        "check the settings `database` and `store`; for a new database choose an empty store, and to give up what the \
         store holds, move its objects away, the one named `installation` too",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn database(folder: &tempfile::TempDir, name: &str) -> Database {
        Database::open(&format!("sqlite:{}", folder.path().join(name).display())).await.unwrap()
    }

    #[tokio::test]
    async fn a_store_goes_with_one_database_only() -> Result<(), SnapshotError> {
        let folder = tempfile::tempdir().unwrap();
        let (first, other) = (database(&folder, "a.sqlite").await, database(&folder, "b.sqlite").await);
        let store = Store::open(&StoreAddress::Folder(folder.path().join("store")))?;
        assert_eq!(join(&first, &store).await?, Ok(()));
        assert_eq!(join(&first, &store).await?, Ok(()));
        assert_eq!(join(&other, &store).await?, Err(Belonging::Other));
        assert_eq!(store.installation().await?, Some(first.installation().await?), "it keeps its name");
        Ok(())
    }

    #[tokio::test]
    async fn a_store_of_an_earlier_version_goes_with_who_knows_it() -> Result<(), SnapshotError> {
        let folder = tempfile::tempdir().unwrap();
        let (first, other) = (database(&folder, "a.sqlite").await, database(&folder, "b.sqlite").await);
        let store = Store::open(&StoreAddress::Folder(folder.path().join("store")))?;
        let source = folder.path().join("source");
        std::fs::write(&source, b"x").unwrap();
        store.put("aa/1", &source).await?;
        first.add_snapshot("aa", "aa/1", 1).await?;
        assert_eq!(join(&other, &store).await?, Err(Belonging::Unknown));
        assert_eq!(store.installation().await?, None);
        assert_eq!(join(&first, &store).await?, Ok(()));
        Ok(())
    }
}
