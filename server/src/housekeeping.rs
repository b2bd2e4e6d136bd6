//! Removes what nothing refers to: links that have ended, jobs that are old, snapshots that neither has any more.
//!
//! Rows go before objects, and an object's name never comes back: whatever stops in between leaves an object without a
//! row, which is found in the store's list, and never a row without its object.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::database::{Database, now_ms};
use crate::snapshots::SnapshotError;
use crate::store::Store;

/// How often it is looked for.
const EVERY: Duration = Duration::from_secs(60);

/// Each so many rounds the store's list is compared with the database.
const ROUNDS_PER_LIST: u32 = 30;

/// How long something may have no reference: an upload stores first, and refers then.
const GRACE: Duration = Duration::from_secs(3600);

/// Snapshots of one round, so that a round ends.
const MOST: i64 = 1000;

/// What a round removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Links that had ended.
    pub shares: u64,
    /// Jobs that were old.
    pub jobs: u64,
    /// Snapshots without a reference.
    pub snapshots: u64,
    /// Objects without a row.
    pub objects: u64,
    /// Objects that were never finished.
    pub unfinished: u64,
    /// Tasks of the queue that are done.
    pub tasks: u64,
}

/// Keeps database and store.
#[derive(Debug, Clone)]
pub struct Housekeeper {
    /// Jobs, snapshots and links.
    pub database: Database,
    /// Snapshots themselves.
    pub store: Store,
    /// How long jobs are kept after their end.
    pub keep_jobs: Duration,
    /// How long something may have no reference.
    pub grace: Duration,
}

impl Housekeeper {
    /// The housekeeper of a server.
    pub fn new(database: Database, store: Store, keep_jobs: Duration) -> Self {
        Self { database, store, keep_jobs, grace: GRACE }
    }

    /// Removes round by round until `stop` changes.
    pub async fn run(&self, mut stop: watch::Receiver<bool>) {
        for round in 0_u32.. {
            match self.round(round.is_multiple_of(ROUNDS_PER_LIST)).await {
                Ok(removed) if removed == Removed::default() => {}
                Ok(Removed { shares, jobs, snapshots, objects, unfinished, tasks }) => {
                    info!(shares, jobs, snapshots, objects, unfinished, tasks, "removed");
                }
                Err(error) => warn!(%error, "what nothing refers to stays for now"),
            }
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Removes once; with `lists` also objects that no row names, and what of objects was never finished.
    ///
    /// # Errors
    ///
    /// Database or store fail; what was removed until then is.
    pub async fn round(&self, lists: bool) -> Result<Removed, SnapshotError> {
        let shares = self.database.forget_expired().await?;
        let jobs = self.database.forget_jobs(before(self.keep_jobs)).await?;
        let mut snapshots = 0;
        for hash in self.database.unreferenced(before(self.grace), MOST).await? {
            if let Some(object) = self.database.forget_snapshot(&hash, before(self.grace)).await? {
                self.store.remove(&object).await?;
                snapshots += 1;
            }
        }
        let tasks = self.database.forget_tasks().await?;
        let mut removed = Removed { shares, jobs, snapshots, tasks, ..Removed::default() };
        if lists {
            removed.objects = self.remove_unknown().await?;
            removed.unfinished = self.store.remove_unfinished(before(self.grace)).await?;
        }
        Ok(removed)
    }

    async fn remove_unknown(&self) -> Result<u64, SnapshotError> {
        let mut removed = 0;
        let mut list = self.store.list();
        while let Some(listed) = list.try_next().await? {
            if listed.written_ms < before(self.grace) && !self.database.knows_object(&listed.object).await? {
                self.store.remove(&listed.object).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// A time ago, in milliseconds since 1970.
fn before(time: Duration) -> i64 {
    now_ms().saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{DatabaseError, Deletion, NewJob, NewShare, Outcome};
    use crate::store::StoreAddress;
    use shared::api::JobState;

    #[tokio::test]
    async fn only_what_nothing_refers_to_goes() -> Result<(), SnapshotError> {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&format!("sqlite:{}", folder.path().join("a.sqlite").display())).await?;
        let store = Store::open(&StoreAddress::Folder(folder.path().join("store")))?;
        let source = folder.path().join("source");
        std::fs::write(&source, b"x").unwrap();
        for (hash, object, known) in [("aa", "aa/1", true), ("bb", "bb/1", true), ("cc", "cc/1", false)] {
            store.put(object, &source).await?;
            if known {
                database.add_snapshot(hash, object, 1).await?;
            }
        }
        share(&database, "aa").await?;
        let housekeeper = |grace| Housekeeper { grace, ..Housekeeper::new(database.clone(), store.clone(), GRACE) };
        // What is young may be about to be referred to.
        assert_eq!(housekeeper(GRACE).round(true).await?, Removed::default());
        tokio::time::sleep(Duration::from_millis(30)).await;
        let expected = Removed { snapshots: 1, objects: 1, ..Removed::default() };
        assert_eq!(housekeeper(Duration::from_millis(10)).round(true).await?, expected);
        assert!(store.read("aa/1").await.is_ok());
        assert!(store.read("bb/1").await.is_err());
        assert!(store.read("cc/1").await.is_err());
        Ok(())
    }

    #[tokio::test]
    async fn the_snapshot_of_a_deleted_job_leaves_the_store() -> Result<(), SnapshotError> {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&format!("sqlite:{}", folder.path().join("a.sqlite").display())).await?;
        let store = Store::open(&StoreAddress::Folder(folder.path().join("store")))?;
        let source = folder.path().join("source");
        std::fs::write(&source, b"x").unwrap();
        for (id, hash, object) in [("1", "aa", "aa/1"), ("2", "bb", "bb/1")] {
            store.put(object, &source).await?;
            database.add_snapshot(hash, object, 1).await?;
            finish(&database, id, hash).await?;
        }
        // A link that was made from it keeps the bytes.
        share(&database, "bb").await?;
        tokio::time::sleep(Duration::from_millis(30)).await;
        let grace = Duration::from_millis(10);
        let housekeeper = Housekeeper { grace, ..Housekeeper::new(database.clone(), store.clone(), GRACE) };
        assert_eq!(housekeeper.round(true).await?.snapshots, 0);
        for id in ["1", "2"] {
            assert_eq!(database.delete_job(id).await?, Deletion::Deleted);
        }
        // Until the next round a job that just found the same bytes in the store may still refer to them.
        assert!(store.read("aa/1").await.is_ok());
        assert_eq!(housekeeper.round(true).await?.snapshots, 1);
        assert!(store.read("aa/1").await.is_err());
        assert!(store.read("bb/1").await.is_ok());
        Ok(())
    }

    /// A job that has finished with a snapshot.
    async fn finish(database: &Database, id: &str, hash: &str) -> Result<(), DatabaseError> {
        let text = String::new;
        let job = NewJob {
            id: id.to_owned(),
            kind: "virtual".to_owned(),
            priority: 0,
            name: text(),
            config: text(),
            source: text(),
            notes: text(),
            idempotency_key: None,
            request_hash: text(),
        };
        database.submit(&job).await?;
        database.claim(id, "worker").await?;
        let (state, snapshot) = (JobState::Finished, Some(hash.to_owned()));
        let outcome = Outcome { state, result: None, curve: None, error: None, log: text(), snapshot };
        assert!(database.finish(id, "worker", &outcome).await?);
        Ok(())
    }

    async fn share(database: &Database, hash: &str) -> Result<bool, DatabaseError> {
        let share = NewShare {
            token_hash: hash.to_owned(),
            delete_hash: hash.to_owned(),
            snapshot: hash.to_owned(),
            title: String::new(),
            view_state: String::new(),
            digest: String::new(),
            expires_ms: None,
        };
        database.share(&share).await
    }
}
