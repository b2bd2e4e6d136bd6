//! Measures the shared memory in `/dev/shm`, through which workers of a data loader send batches.
//!
//! A block that every process has closed, but that nobody removed, is in no process's memory and still uses the machine's.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::opened::{Opened, lock, look, watch};
use super::proc::{Sampled, of_machine};

/// Folder of shared memory on Linux.
const FOLDER: &str = "/dev/shm";

/// Watcher of the files that a program makes after it was started.
#[derive(Debug)]
pub(super) struct SharedFolder {
    folder: PathBuf,
    /// Names of the files that were there before.
    older: HashSet<String>,
    /// Names of other files that the program has opened.
    opened: Arc<Mutex<Opened>>,
    /// Last lines about the folder and about the machine, which are not repeated.
    lines: [String; 2],
}

/// Returns the names of the files that are there before a program starts.
pub(super) fn names() -> HashSet<String> {
    names_in(FOLDER)
}

fn names_in(folder: impl Into<PathBuf>) -> HashSet<String> {
    let entries = fs::read_dir(folder.into()).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

impl SharedFolder {
    /// Watches what a process and its descendants do.
    pub(super) fn new(root: u32, older: HashSet<String>) -> Self {
        let folder = PathBuf::from(FOLDER);
        let opened = watch(&folder, root);
        Self { folder, older, opened, lines: <[String; 2]>::default() }
    }

    /// Returns the lines of a sample that have changed.
    pub(super) fn lines(&mut self, rows: &[Sampled]) -> String {
        // That of `/dev/shm`, of other folders in memory, and without a file, in whole MiB.
        let machine = of_machine("Shmem:").map(|bytes| bytes >> 20 << 20);
        let machine = machine.map(|bytes| format!("# shared memory of the machine: {bytes} bytes\n"));
        let now = [self.folder_line(rows).unwrap_or_default(), machine.unwrap_or_default()];
        let changed: String =
            now.iter().zip(&self.lines).filter(|(now, last)| now != last).map(|(now, _)| &**now).collect();
        self.lines = now;
        changed
    }

    fn folder_line(&self, rows: &[Sampled]) -> Option<String> {
        let disk = rustix::fs::statvfs(&self.folder).ok()?;
        look(&self.opened, &self.folder, rows.iter().map(|row| row.pid).collect());
        let size = disk.f_blocks.saturating_mul(disk.f_frsize);
        let used = disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize);
        let (bytes, files, so_far) = self.new_files();
        Some(format!(
            "# /dev/shm: {used} of {size} bytes in use; {bytes} bytes in {files} new files, {so_far} so far\n"
        ))
    }

    /// Returns the line after the end of the program; `None` if it has left nothing.
    pub(super) fn left(&self) -> Option<String> {
        lock(&self.opened).removed.clear();
        let (bytes, files, _) = self.new_files();
        let opened = lock(&self.opened);
        let first = opened.names.iter().min()?.replace(['\n', '\r'], " ");
        Some(format!("# left in /dev/shm: {bytes} bytes in {files} files, such as {first}\n"))
    }

    /// Returns the bytes and the number of new files, and how many there were so far; forgets the names that are gone.
    fn new_files(&self) -> (u64, usize, u64) {
        let mut opened = lock(&self.opened);
        let Opened { names, removed, count } = &mut *opened;
        let before = names.len();
        names.retain(|name| !self.older.contains(name));
        *count -= (before - names.len()) as u64;
        let mut bytes = 0_u64;
        names.retain(|name| {
            let file = fs::symlink_metadata(self.folder.join(name)).ok().filter(fs::Metadata::is_file);
            bytes = bytes.saturating_add(file.as_ref().map_or(0, |file| file.blocks().saturating_mul(512)));
            file.is_some()
        });
        let bytes = removed.values().fold(bytes, |sum, bytes| sum.saturating_add(*bytes));
        (bytes, names.len() + removed.len(), *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_files_of_the_program_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), vec![1; 1 << 16]).unwrap();
        write("older");
        let shared = SharedFolder {
            folder: folder.path().to_owned(),
            older: names_in(folder.path()),
            opened: Arc::default(),
            lines: <[String; 2]>::default(),
        };
        ["psm_1", "psm_2", "of_another"].into_iter().for_each(write);
        assert_eq!((shared.new_files(), shared.left()), ((0, 0, 0), None));
        {
            let mut opened = lock(&shared.opened);
            opened.names.extend(["older", "psm_1", "psm_2"].map(str::to_owned));
            opened.count = 3;
        }
        let (bytes, files, so_far) = shared.new_files();
        assert!(bytes > 0 && (files, so_far) == (2, 2), "{bytes} {files} {so_far}");
        fs::remove_file(folder.path().join("psm_1")).unwrap();
        let left = shared.left().unwrap();
        assert!(left.ends_with(" bytes in 1 files, such as psm_2\n"), "{left}");
        assert_eq!(shared.new_files().2, 2);
    }
}
