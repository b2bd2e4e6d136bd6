//! Sets the wall clock of other processes through libfaketime.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Prefixes of libfaketime's files in `/dev/shm`; the process id follows.
const KEPT: [&str; 2] = ["faketime_shm_", "sem.faketime_sem_"];

#[derive(Debug)]
pub struct Clock(TempDir);

impl Clock {
    pub fn new() -> Self {
        let clock = Self(tempfile::tempdir().expect("a folder"));
        clock.jump_to(0);
        clock
    }

    /// Sets the clock to the real time plus `hours`.
    pub fn jump_to(&self, hours: i64) {
        // A rename, because a process that reads the file during a write would see another time.
        fs::write(self.0.path().join("next"), format!("{hours:+}h\n")).expect("room");
        fs::rename(self.0.path().join("next"), self.0.path().join("time")).expect("to replace it");
    }

    /// Returns the environment variables that give a process this clock.
    #[track_caller]
    pub fn variables(&self) -> [(String, OsString); 5] {
        let variable = |name: &str, value: &Path| (name.to_owned(), value.into());
        [
            variable("LD_PRELOAD", &library()),
            variable("FAKETIME_TIMESTAMP_FILE", &self.0.path().join("time")),
            variable("FAKETIME_NO_CACHE", Path::new("1")),
            // The monotonic clock does not jump, as on real machines.
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
    /// Removes what libfaketime keeps in shared memory for each process and a killed process leaves behind.
    fn drop(&mut self) {
        for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| KEPT.iter().find_map(|kept| name.strip_prefix(kept)));
            if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                // Another test may remove it at the same time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[track_caller]
fn library() -> PathBuf {
    let folders = ["/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib64/faketime", "/usr/lib/faketime"];
    let library =
        folders.map(|folder| Path::new(folder).join("libfaketime.so.1")).into_iter().find(|path| path.exists());
    library.expect("libfaketime is not installed: run the tests by `./dev test`")
}
