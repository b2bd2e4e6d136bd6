//! Removes expired links, old jobs, and snapshots that neither refers to any more.
//!
//! Rows are deleted before objects, and object names are never reused. An interruption in between can therefore only
//! leave an object without a row, which listing the store finds, and never a row without its object.
//!
//! Such objects are moved to the trash for some days, and only if they are few: many unknown objects suggest that the
//! database is an old copy. After a clock jump nothing is removed for a while, because the clock may be corrected.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::database::{Database, now_ms};
use crate::snapshots::SnapshotError;
use crate::store::Store;

/// Interval between rounds.
const EVERY: Duration = Duration::from_secs(60);

/// Number of rounds between two comparisons of the store's list with the database.
const ROUNDS_PER_LIST: u32 = 30;

/// Time that an object may be without a reference, because an upload stores it first and refers to it afterwards.
const GRACE: Duration = Duration::from_secs(3600);

/// Maximum number of snapshots removed per round, so that each round ends.
const MOST: i64 = 1000;

/// Time that objects without a row stay in the trash.
const TRASH: Duration = Duration::from_secs(7 * 24 * 3600);

/// Number of objects without a row that broken uploads may explain in any store.
const FEW_UNKNOWN: usize = 10;

/// Maximum number of objects without a row, as a fraction of all objects (1/10).
const MOST_UNKNOWN: usize = 10;

/// Gap between two rounds that indicates a clock jump or a server that was off.
const JUMP: Duration = Duration::from_secs(24 * 3600);

/// Pause after a clock jump; machines synchronize their time within minutes of their start.
const AFTER_JUMP: Duration = Duration::from_secs(3600);

/// Counts of what one round removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    pub shares: u64,
    /// Jobs past their retention time.
    pub jobs: u64,
    pub snapshots: u64,
    /// Objects without a row, which were moved to the trash.
    pub objects: u64,
    /// Objects deleted from the trash.
    pub trash: u64,
    /// Remains of objects that were never written completely.
    pub unfinished: u64,
}

/// Removes unreferenced data from the database and the store.
#[derive(Debug, Clone)]
pub struct Housekeeper {
    pub database: Database,
    pub store: Store,
    /// Time that jobs are kept after their end.
    pub keep_jobs: Duration,
    /// Time that a snapshot or an object may be without a reference.
    pub grace: Duration,
}

impl Housekeeper {
    /// Makes a housekeeper with the default grace period.
    pub fn new(database: Database, store: Store, keep_jobs: Duration) -> Self {
        Self { database, store, keep_jobs, grace: GRACE }
    }

    /// Runs a round every minute until `stop` changes.
    pub async fn run(&self, mut stop: watch::Receiver<bool>) {
        let mut rests_until = None;
        for round in 0_u32.. {
            match self.guarded_round(round.is_multiple_of(ROUNDS_PER_LIST), &mut rests_until).await {
                Ok(removed) if removed == Removed::default() => {}
                Ok(Removed { shares, jobs, snapshots, objects, trash, unfinished }) => {
                    info!(shares, jobs, snapshots, objects, trash, unfinished, "removed");
                }
                Err(error) => warn!(%error, "the cleanup failed; the next round tries again"),
            }
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Runs one round, unless the clock has jumped; then nothing is removed for an hour.
    async fn guarded_round(&self, lists: bool, rests_until: &mut Option<Instant>) -> Result<Removed, SnapshotError> {
        let rests = |until: &Option<Instant>| until.is_some_and(|until| Instant::now() < until);
        if rests_until.is_none() && self.database.kept_ms().await? < before(JUMP) {
            warn!("the last cleanup is more than a day ago: nothing is removed for an hour, as the clock may be wrong");
            *rests_until = Some(Instant::now() + AFTER_JUMP);
        }
        if rests(rests_until) {
            // The time of the last round is left unchanged, so that a restart within this hour waits as well.
            return Ok(Removed::default());
        }
        *rests_until = None;
        self.database.note_kept().await?;
        self.round(lists).await
    }

    /// Runs one round; `lists` includes objects without a row, the trash and unfinished objects.
    ///
    /// # Errors
    ///
    /// Returns an error if the database or the store fails; removals before that remain in effect.
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
        self.database.forget_workers().await?;
        let mut removed = Removed { shares, jobs, snapshots, ..Removed::default() };
        if lists {
            removed.objects = self.discard_unknown().await?;
            removed.trash = self.store.empty_trash(before(TRASH)).await?;
            removed.unfinished = self.store.remove_unfinished(before(self.grace)).await?;
        }
        Ok(removed)
    }

    /// Moves objects without a row to the trash, unless there are more than broken uploads can explain.
    async fn discard_unknown(&self) -> Result<u64, SnapshotError> {
        let (mut all, mut unknown) = (0_usize, Vec::new());
        let mut list = self.store.list();
        while let Some(listed) = list.try_next().await? {
            all += 1;
            if listed.written_ms < before(self.grace) && !self.database.knows_object(&listed.object).await? {
                unknown.push(listed.object);
            }
        }
        // What is in the trash counts too: the uploads of another server with this store are few in each round.
        let trash = if unknown.is_empty() { 0 } else { self.store.trash().await?.len() };
        if unknown.len() + trash > FEW_UNKNOWN.max((all + trash) / MOST_UNKNOWN) {
            error!(
                unknown = unknown.len(),
                trash,
                all,
                "too many objects are not in the database, so they are kept: is it an old copy? \
                 Run `snapscope data check`"
            );
            return Ok(0);
        }
        for object in &unknown {
            self.store.discard(object, now_ms()).await?;
        }
        Ok(unknown.len() as u64)
    }
}

/// Returns the time `time` ago, in milliseconds since 1970.
fn before(time: Duration) -> i64 {
    now_ms().saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{DatabaseError, Deletion, NewJob, NewShare, Outcome};
    use crate::store::StoreAddress;
    use shared::api::JobState;

    /// An empty database and an empty store in a folder with a one-byte file `source`.
    struct Place {
        folder: tempfile::TempDir,
        database: Database,
        store: Store,
    }

    impl Place {
        async fn new() -> Result<Self, SnapshotError> {
            let folder = tempfile::tempdir().unwrap();
            let database = Database::open(&format!("sqlite:{}", folder.path().join("a.sqlite").display())).await?;
            let store = Store::open(&StoreAddress::Folder(folder.path().join("store")))?;
            std::fs::write(folder.path().join("source"), b"x").unwrap();
            Ok(Self { folder, database, store })
        }

        async fn put(&self, object: &str) -> Result<(), SnapshotError> {
            self.store.put(object, &self.folder.path().join("source")).await?;
            Ok(())
        }

        fn housekeeper(&self) -> Housekeeper {
            Housekeeper::new(self.database.clone(), self.store.clone(), GRACE)
        }

        /// Makes a round for which everything is old.
        async fn late_round(&self) -> Result<Removed, SnapshotError> {
            tokio::time::sleep(Duration::from_millis(30)).await;
            Housekeeper { grace: Duration::from_millis(10), ..self.housekeeper() }.round(true).await
        }

        /// Adds a link to a snapshot.
        async fn share(&self, hash: &str, expires_ms: Option<i64>) -> Result<bool, DatabaseError> {
            let share = NewShare {
                token_hash: hash.to_owned(),
                delete_hash: hash.to_owned(),
                snapshot: hash.to_owned(),
                title: String::new(),
                view_state: String::new(),
                digest: String::new(),
                expires_ms,
            };
            self.database.share(&share).await
        }
    }

    #[tokio::test]
    async fn only_what_nothing_refers_to_goes() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        for object in ["aa/1", "bb/1", "cc/1"] {
            place.put(object).await?;
        }
        for (hash, object) in [("aa", "aa/1"), ("bb", "bb/1")] {
            place.database.add_snapshot(hash, object, 1).await?;
        }
        place.share("aa", None).await?;
        // Young objects may be about to get a reference.
        assert_eq!(place.housekeeper().round(true).await?, Removed::default());
        assert_eq!(place.late_round().await?, Removed { snapshots: 1, objects: 1, ..Removed::default() });
        for (object, is_there) in [("aa/1", true), ("bb/1", false), ("cc/1", false)] {
            assert_eq!(place.store.read(object).await.is_ok(), is_there, "{object}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn what_nobody_knows_goes_to_the_trash_for_some_days() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        place.put("cc/1").await?;
        assert_eq!(place.late_round().await?, Removed { objects: 1, ..Removed::default() });
        let trash = place.folder.path().join("store/trash");
        let kept: Vec<_> = std::fs::read_dir(&trash).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(std::fs::read(kept[0].join("cc/1")).unwrap(), b"x");
        assert_eq!(place.late_round().await?, Removed::default(), "it stays there");
        assert_eq!(place.store.empty_trash(now_ms() + 1).await?, 1);
        Ok(())
    }

    #[tokio::test]
    async fn a_database_that_knows_too_little_removes_nothing() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        for index in 0..=FEW_UNKNOWN {
            place.put(&format!("cc/{index}")).await?;
        }
        assert_eq!(place.late_round().await?, Removed::default());
        assert!(place.store.read("cc/0").await.is_ok());
        Ok(())
    }

    #[tokio::test]
    async fn the_uploads_of_another_server_do_not_go_one_after_another() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        let mut discarded = 0;
        for round in 0..4 {
            for index in 0..FEW_UNKNOWN / 2 {
                place.put(&format!("cc/{round}-{index}")).await?;
            }
            discarded += place.late_round().await?.objects;
        }
        assert_eq!((discarded, place.store.trash().await?.len()), (FEW_UNKNOWN as u64, FEW_UNKNOWN));
        Ok(())
    }

    #[tokio::test]
    async fn nothing_ends_while_the_clock_may_be_wrong() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        let (database, housekeeper) = (&place.database, place.housekeeper());
        database.installation().await?;
        database.add_snapshot("aa", "aa/1", 1).await?;
        place.share("aa", Some(1)).await?;
        let Database::Sqlite(pool) = database else { unreachable!() };
        let old = now_ms() - 31 * 24 * 3600 * 1000;
        sqlx::query("UPDATE installation SET kept_ms = $1").bind(old).execute(pool).await.unwrap();
        let mut rests_until = None;
        for _ in 0..2 {
            assert_eq!(housekeeper.guarded_round(true, &mut rests_until).await?, Removed::default());
        }
        assert_eq!(database.kept_ms().await?, old, "a new start waits as well");
        rests_until = Some(Instant::now());
        assert_eq!(housekeeper.guarded_round(true, &mut rests_until).await?.shares, 1);
        assert_eq!(rests_until, None);
        Ok(())
    }

    #[tokio::test]
    async fn the_snapshot_of_a_deleted_job_leaves_the_store() -> Result<(), SnapshotError> {
        let place = Place::new().await?;
        let (database, store) = (&place.database, &place.store);
        for (id, hash, object) in [("1", "aa", "aa/1"), ("2", "bb", "bb/1")] {
            place.put(object).await?;
            database.add_snapshot(hash, object, 1).await?;
            let job = NewJob { id: id.to_owned(), kind: "virtual".to_owned(), steps: 1, ..NewJob::default() };
            database.submit(&job).await?;
            database.claim("virtual", "worker", true).await?;
            let outcome = Outcome { snapshot: Some(hash.to_owned()), ..Outcome::of(JobState::Finished) };
            assert!(database.finish(id, "worker", &outcome).await?);
        }
        // A link to the second snapshot keeps its bytes.
        place.share("bb", None).await?;
        assert_eq!(place.late_round().await?.snapshots, 0);
        for id in ["1", "2"] {
            assert_eq!(database.delete_job(id).await?, Deletion::Deleted);
        }
        // The object stays until the next round, because a new job may just have found the same bytes in the store.
        assert!(store.read("aa/1").await.is_ok());
        assert_eq!(place.late_round().await?.snapshots, 1);
        assert!(store.read("aa/1").await.is_err() && store.read("bb/1").await.is_ok());
        Ok(())
    }
}
