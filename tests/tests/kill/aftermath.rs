//! What has to be so after processes were killed, once all has come to rest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde_json::Value;
use server::database::Database;
use server::housekeeping::Housekeeper;
use server::store::Store;

use crate::client::Client;
use crate::fleet::Fleet;
use crate::traffic::{Shared, Traffic};

/// Waits until all has come to rest, and checks everything.
#[track_caller]
pub(crate) fn check(mut fleet: Fleet, traffic: Traffic) {
    let (jobs, shares) = traffic.finish();
    print(&jobs, &shares);
    let contents: BTreeSet<Vec<u8>> = jobs
        .iter()
        .filter_map(|job| check_job(&fleet.client, job))
        .chain(check_shares(&fleet.client, &shares))
        .collect();
    fleet.stop();
    assert_eq!(fleet.recorders(), [""; 0], "recorders that outlive their keepers");
    let left: Vec<_> = files(fleet.folder()).into_iter().filter(|file| is_under_way(file)).collect();
    // A worker that was killed and has not come back on its machine leaves what it was at, and no more.
    assert!(left.iter().all(|file| is_of_the_dead(&fleet, file)), "{left:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(check_store(&fleet, contents.len()));
}

/// The figures of this test, which `--nocapture` shows.
fn print(jobs: &[Value], shares: &[Shared]) {
    let count = |is_so: &dyn Fn(&Value) -> bool| jobs.iter().filter(|job| is_so(job)).count();
    let finished = count(&|job| job["state"] == "finished");
    let again = count(&|job| job["attempts"].as_u64() > Some(1));
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    println!(
        "{name}: {finished} of {} jobs finished, {again} of them after another start; {} links acknowledged",
        jobs.len(),
        shares.len()
    );
}

/// Each job has ended, and whoever asks learns how; returns its snapshot.
#[track_caller]
fn check_job(client: &Client, job: &Value) -> Option<Vec<u8>> {
    let path = format!("/api/v1/jobs/{}/snapshot", job["id"].as_str().expect("an id"));
    let snapshot = client.get(&path).expect("an answer");
    if job["state"] == "finished" {
        assert_eq!((snapshot.status, &job["snapshot_bytes"]), (200, &snapshot.body.len().into()), "{job}");
        assert!(shared::import::import(&snapshot.body).is_ok(), "{job}");
        return Some(snapshot.body);
    }
    assert_eq!(job["state"], "failed", "{job}");
    assert!(job["error"]["message"].as_str().is_some_and(|message| message.ends_with('.')), "{job}");
    assert_eq!(snapshot.status, 404, "{job}");
    None
}

/// Each link that was acknowledged has the bytes that were uploaded.
#[track_caller]
fn check_shares(client: &Client, shares: &[Shared]) -> Vec<Vec<u8>> {
    for Shared { token, content } in shares {
        let stored = client.get(&format!("/api/v1/shares/{token}/snapshot")).expect("an answer");
        assert!(stored.status == 200 && stored.body == *content, "a link has lost its snapshot");
    }
    shares.iter().map(|shared| shared.content.clone()).collect()
}

/// Database and store agree once what was left over has been removed.
async fn check_store(fleet: &Fleet, contents: usize) {
    let database = Database::open(&fleet.database).await.expect("the database");
    let store = Store::open(&fleet.store()).expect("the store");
    let housekeeper = Housekeeper {
        grace: Duration::ZERO,
        ..Housekeeper::new(database.clone(), store.clone(), Duration::from_secs(3600))
    };
    housekeeper.round(true).await.expect("a round");
    let listed: Vec<_> = store.list().try_collect().await.expect("a list");
    for listed in &listed {
        assert!(database.knows_object(&listed.object).await.expect("an answer"), "{} has no row", listed.object);
    }
    // Each content was fetched through its row: as many objects as contents means that no row lacks one.
    assert_eq!(listed.len(), contents, "objects and contents");
    let in_folder = files(&fleet.folder().join("server/store/snapshots")).len();
    assert!(fleet.is_large() || in_folder == contents, "{in_folder} files for {contents} objects");
    database.close().await;
}

/// Whether a file belongs to work that has not come to its end.
fn is_under_way(file: &Path) -> bool {
    file.iter().any(|part| part == "scratch") && file.file_name().is_some_and(|name| name != "lock")
}

fn is_of_the_dead(fleet: &Fleet, file: &Path) -> bool {
    fleet.killed().iter().any(|folder| file.starts_with(folder))
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
