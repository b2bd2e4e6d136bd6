//! Provides a temporary folder per process and removes those that killed processes left behind.
//!
//! Locks tell which processes are alive, because the operating system releases them however their holder ends.
//!
//! Invariant: what a killed process leaves behind is gone after the next start on its machine.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::folder::make_private;

/// Name of the lock file, both in each folder and in their parent, where it serializes the cleanup.
const LOCK: &str = "lock";

/// A folder that is deleted when this value is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes a new folder below `parent`, which is made if missing, and removes those of dead processes.
    pub fn open(parent: &Path) -> io::Result<Self> {
        make_private(parent)?;
        // A folder exists before its lock is held, so no other process may look in between.
        let turn = File::create(parent.join(LOCK))?;
        turn.lock()?;
        remove_abandoned(parent)?;
        let folder = tempfile::Builder::new().prefix("process-").tempdir_in(parent)?.keep();
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the next start removes the rest.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let folder = entry?.path();
        if folder.is_dir()
            && !File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err())
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            warn!(folder = %folder.display(), %error, "the folder of an ended process can't be removed");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let held = Scratch::open(parent.path()).unwrap();
        fs::write(held.path().join("upload"), "x").unwrap();
        // This is what a killed process leaves behind.
        let abandoned = parent.path().join("process-dead");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join(LOCK), "").unwrap();
        fs::write(abandoned.join("upload"), "x").unwrap();
        let other = Scratch::open(parent.path()).unwrap();
        assert!(held.path().join("upload").exists() && other.path().exists() && !abandoned.exists());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}
