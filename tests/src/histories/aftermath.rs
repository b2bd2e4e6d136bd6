//! Checks what must hold once all processes have stopped, whatever happened before.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use server::database::Database;
use server::housekeeping::Housekeeper;
use server::snapshots::SnapshotError;
use server::store::Store;

use super::fleet::Fleet;

/// Time that recorders may outlive a worker that was killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Contents of database and store after all processes have stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    pub objects: usize,
    /// Objects without a row, which housekeeping moved to the trash.
    pub discarded: u64,
    /// Snapshot rows that nothing refers to.
    pub unreferenced: usize,
}

/// Checks the stopped processes and that database and store agree after housekeeping.
///
/// # Errors
///
/// Returns a message if something is left over or missing.
pub fn check(fleet: &Fleet) -> Result<Rest, String> {
    no_recorder_is_left(fleet)?;
    nothing_is_under_way(fleet)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let rest = runtime.block_on(keep_house(fleet)).map_err(|error| error.to_string())?;
    fleet.check_data()?;
    let names_are_odd = |file: &PathBuf| file.to_string_lossy().contains('#');
    let unfinished: Vec<_> = files(&fleet.store_folder()).into_iter().filter(names_are_odd).collect();
    let in_folder = files(&fleet.store_folder().join("snapshots")).len();
    if !unfinished.is_empty() || (fleet.has_folder() && in_folder != rest.objects) {
        return Err(format!("{in_folder} files for {} objects, and {unfinished:?}", rest.objects));
    }
    Ok(rest)
}

fn no_recorder_is_left(fleet: &Fleet) -> Result<(), String> {
    let start = Instant::now();
    while !fleet.recorders().is_empty() {
        if start.elapsed() > PATIENCE {
            return Err(format!("recorders outlive their keepers: {:?}", fleet.recorders()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Scratch files may remain only from a worker that was killed and not restarted on its machine.
fn nothing_is_under_way(fleet: &Fleet) -> Result<(), String> {
    let is_of_the_dead = |file: &Path| fleet.killed().iter().any(|folder| file.starts_with(folder));
    let is_under_way =
        |file: &Path| file.iter().any(|part| part == "scratch") && file.file_name().is_some_and(|name| name != "lock");
    let left = files(fleet.folder()).into_iter().filter(|file| is_under_way(file) && !is_of_the_dead(file));
    let left: Vec<_> = left.collect();
    if left.is_empty() { Ok(()) } else { Err(format!("left over of what was under way: {left:?}")) }
}

/// Removes everything without a reference, whatever its age.
async fn keep_house(fleet: &Fleet) -> Result<Rest, SnapshotError> {
    let (database, store) = (Database::open(&fleet.database).await?, Store::open(&fleet.store())?);
    let keep_jobs = Duration::from_secs(30 * 24 * 3600);
    let housekeeper =
        Housekeeper { grace: Duration::ZERO, ..Housekeeper::new(database.clone(), store.clone(), keep_jobs) };
    let discarded = housekeeper.round(true).await?.objects;
    let objects = store.list().try_collect::<Vec<_>>().await?.len();
    let unreferenced = database.unreferenced(i64::MAX, i64::MAX).await?.len();
    database.close().await;
    Ok(Rest { objects, discarded, unreferenced })
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
