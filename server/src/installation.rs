//! Checks whether the database and the store belong to the same installation.
//!
//! The housekeeper removes objects that the database does not know. With the wrong database, such as an empty one under
//! a mistyped name, it would remove all of them, so nothing starts before this check.
//!
//! Invariant: nothing is removed from a store if the database does not carry its name.

use futures_util::TryStreamExt as _;

use crate::config::DatabaseAddress;
use crate::database::Database;
use crate::failure::Failure;
use crate::snapshots::SnapshotError;
use crate::store::{Store, StoreAddress};

/// Number of objects checked to see whether the database knows a store without an installation ID.
const MOST_LOOKED_AT: usize = 100;

/// Relation of a store to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belonging {
    /// The store belongs to this database.
    Own,
    /// The store has no installation ID, and either is empty or has an object that the database knows.
    New,
    /// The store has the ID of another installation.
    Other,
    /// The store has no installation ID, and the database knows none of the objects checked.
    Unknown,
}

/// Opens a database and a store and checks that they belong together.
///
/// # Errors
///
/// Returns an error if either does not answer, or if the store belongs to another database.
pub async fn open(at: &DatabaseAddress, store_at: &StoreAddress) -> Result<(Database, Store), Failure> {
    let database = Database::connect(at).await?;
    let store = Store::connect(store_at).await?;
    let joined = join(&database, &store).await;
    let joined =
        joined.map_err(|error| Failure::new(error.to_string(), "check that the database and the store respond"))?;
    joined.map_err(|belonging| refusal(belonging, at, store_at))?;
    Ok((database, store))
}

/// Checks whether they belong together, and writes the database's ID into a store without one.
///
/// # Errors
///
/// Returns an error if the database or the store fails; the inner error means that they do not belong together.
pub async fn join(database: &Database, store: &Store) -> Result<Result<(), Belonging>, SnapshotError> {
    let belonging = belonging(database, store).await?;
    match belonging {
        Belonging::Own => Ok(Ok(())),
        Belonging::New => {
            store.set_installation(&database.installation().await?).await?;
            // Two installations may start with the same store at once; the ID that is read back decides.
            Ok(match self::belonging(database, store).await? {
                Belonging::Own => Ok(()),
                other => Err(other),
            })
        }
        Belonging::Other | Belonging::Unknown => Ok(Err(belonging)),
    }
}

pub async fn belonging(database: &Database, store: &Store) -> Result<Belonging, SnapshotError> {
    let own = database.installation().await?;
    if let Some(name) = store.installation().await? {
        return Ok(if name == own { Belonging::Own } else { Belonging::Other });
    }
    // Stores of earlier versions have no ID.
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
    let why = match belonging {
        Belonging::Unknown => "it holds snapshots that the database does not know",
        _ => "it belongs to another database",
    };
    Failure::new(
        format!("the store at {store} does not belong to the database {database}: {why}; nothing was changed"),
        "check the settings `database` and `store`; for a new database, choose an empty store; to abandon what the \
         store holds, move all of its objects away, including `installation`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes two databases and a store in a folder.
    async fn place() -> (tempfile::TempDir, Database, Database, Store) {
        let folder = tempfile::tempdir().unwrap();
        let address = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
        let first = Database::open(&address("a.sqlite")).await.unwrap();
        let other = Database::open(&address("b.sqlite")).await.unwrap();
        let store = Store::open(&StoreAddress::Folder(folder.path().join("store"))).unwrap();
        (folder, first, other, store)
    }

    #[tokio::test]
    async fn a_store_goes_with_one_database_only() -> Result<(), SnapshotError> {
        let (_folder, first, other, store) = place().await;
        assert_eq!(join(&first, &store).await?, Ok(()));
        assert_eq!(join(&first, &store).await?, Ok(()));
        assert_eq!(join(&other, &store).await?, Err(Belonging::Other));
        assert_eq!(store.installation().await?, Some(first.installation().await?), "it keeps its name");
        Ok(())
    }

    #[tokio::test]
    async fn a_store_of_an_earlier_version_goes_with_who_knows_it() -> Result<(), SnapshotError> {
        let (folder, first, other, store) = place().await;
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
