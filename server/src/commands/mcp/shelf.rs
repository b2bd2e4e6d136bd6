//! The snapshots that have been opened, so that the next question about one is answered at once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use logs::Content;
use tempfile::TempPath;

use super::link;
use crate::Failure;
use crate::snapshot_file::{self, Opened, snapshot_of};

/// Most snapshots that are kept in memory.
const MOST_OPEN: usize = 4;

/// Files by the names under which they were asked for.
#[derive(Default)]
pub(super) struct Shelf {
    /// The snapshots, the one that was used last at the end.
    open: Mutex<Vec<Kept>>,
    /// Copies of shared snapshots, which are deleted with this value.
    fetched: Mutex<Vec<(String, Arc<TempPath>)>>,
}

/// A snapshot in memory.
#[derive(Clone)]
struct Kept {
    name: String,
    /// Time and size of the file when it was read.
    stamp: Option<(SystemTime, u64)>,
    opened: Arc<Opened>,
}

impl Shelf {
    /// Returns the path of a file; one behind a link is fetched first.
    pub(super) fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        if !link::is_link(name) {
            return Ok(PathBuf::from(name));
        }
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, path)) = fetched.iter().find(|(link, _)| link == name) {
            return Ok(path.to_path_buf());
        }
        let path = Arc::new(link::fetch(name)?);
        fetched.push((name.to_owned(), Arc::clone(&path)));
        Ok(path.to_path_buf())
    }

    /// Returns a snapshot, which is read again if its file has changed.
    pub(super) fn snapshot(&self, name: &str) -> Result<Arc<Opened>, Failure> {
        snapshot_of(self.content(name)?, Path::new(name))
    }

    /// Returns what a file is; a snapshot is kept until its file changes.
    pub(super) fn content(&self, name: &str) -> Result<Content<Arc<Opened>>, Failure> {
        let path = self.path(name)?;
        let stamp = stamp(&path);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let place = open.iter().position(|kept| kept.name == name && kept.stamp == stamp);
        let kept = match place {
            Some(place) => open.remove(place),
            None => {
                open.retain(|kept| kept.name != name);
                let opened = match snapshot_file::open(&path).map_err(|failure| relative(&path, failure))? {
                    Content::Snapshot(opened) => opened,
                    Content::Log(log) => return Ok(Content::Log(log)),
                };
                Kept { name: name.to_owned(), stamp, opened: Arc::new(Opened { file: name.to_owned(), ..opened }) }
            }
        };
        open.push(kept.clone());
        let more = open.len().saturating_sub(MOST_OPEN);
        open.drain(..more);
        Ok(Content::Snapshot(kept.opened))
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Says from where a path was looked up if there is no such file.
pub(super) fn relative(path: &Path, failure: Failure) -> Failure {
    match std::path::absolute(".") {
        Ok(folder) if path.is_relative() && !path.exists() => {
            Failure::new(failure.message, format!("paths are relative to {}; pass an absolute path", folder.display()))
        }
        _ => failure,
    }
}
