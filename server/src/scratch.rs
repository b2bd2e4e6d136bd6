//! A folder for what is under way, for one process; what a process that was killed left behind goes at the next start.
//!
//! Which processes live is told by locks, which the system takes back whatever happens to their holder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::folder::make_private;

/// The file in each folder that its process holds locked, and the one beside them that orders those who look.
const LOCK: &str = "lock";

/// A folder that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// A new folder below another, which is made if need be; those of processes that have died are removed.
    ///
    /// # Errors
    ///
    /// Nothing can be written there.
    pub fn open(parent: &Path) -> io::Result<Self> {
        make_private(parent)?;
        // A folder is there before its lock is held: nobody may look in between.
        let turn = File::create(parent.join(LOCK))?;
        turn.lock()?;
        remove_abandoned(parent)?;
        let folder = tempfile::Builder::new().prefix("process-").tempdir_in(parent)?.keep();
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is found at the next start.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let folder = entry?.path();
        if folder.is_dir()
            && !is_held(&folder)
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            warn!(folder = %folder.display(), %error, "what a process left behind can't be removed");
        }
    }
    Ok(())
}

fn is_held(folder: &Path) -> bool {
    File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let held = Scratch::open(parent.path()).unwrap();
        fs::write(held.path().join("upload"), "x").unwrap();
        // As a process leaves it that was killed.
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
