//! The time of day of other processes, which a test sets: libfaketime tells it to them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// What the names of these begin with; the number of the process comes after it.
const KEPT: [&str; 2] = ["faketime_shm_", "sem.faketime_sem_"];

/// A clock that jumps.
#[derive(Debug)]
pub struct Clock(TempDir);

impl Clock {
    /// A clock with the real time.
    ///
    /// # Panics
    ///
    /// There is no temporary folder.
    pub fn new() -> Self {
        let clock = Self(tempfile::tempdir().expect("a folder"));
        clock.jump_to(0);
        clock
    }

    /// Lets it jump to so many hours from the real time.
    ///
    /// # Panics
    ///
    /// The disk is full.
    pub fn jump_to(&self, hours: i64) {
        // Whoever reads it in the middle of a write would see another time.
        fs::write(self.0.path().join("next"), format!("{hours:+}h\n")).expect("room");
        fs::rename(self.0.path().join("next"), self.0.path().join("time")).expect("to replace it");
    }

    /// What a process needs in its environment to have this clock.
    ///
    /// # Panics
    ///
    /// libfaketime is not installed.
    #[track_caller]
    pub fn variables(&self) -> [(String, OsString); 5] {
        let variable = |name: &str, value: &Path| (name.to_owned(), value.into());
        [
            variable("LD_PRELOAD", &library()),
            variable("FAKETIME_TIMESTAMP_FILE", &self.0.path().join("time")),
            variable("FAKETIME_NO_CACHE", Path::new("1")),
            // Computers have a second clock, which does not jump.
            variable("FAKETIME_DONT_FAKE_MONOTONIC", Path::new("1")),
            variable("DONT_FAKE_MONOTONIC", Path::new("1")),
        ]
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Clock {
    /// Removes what the library keeps in shared memory for each process, which a process that is killed leaves there.
    fn drop(&mut self) {
        for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| KEPT.iter().find_map(|kept| name.strip_prefix(kept)));
            if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                // Another test may have removed it in this moment.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The library that changes the clock of a process.
#[track_caller]
fn library() -> PathBuf {
    let folders = ["/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib64/faketime", "/usr/lib/faketime"];
    let library =
        folders.map(|folder| Path::new(folder).join("libfaketime.so.1")).into_iter().find(|path| path.exists());
    library.expect("libfaketime is not installed: run the tests by `./dev test`")
}
