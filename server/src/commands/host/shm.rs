//! Measures the shared memory in `/dev/shm`, through which workers of a data loader send batches.
//!
//! A block that every process has closed, but that nobody removed, is in no process's memory and still uses the machine's.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Largest number of files whose size is read for a sample.
const MOST_FILES: usize = 100_000;

/// Watcher of the files that appear after it was made.
#[derive(Debug)]
pub(super) struct SharedFolder {
    folder: PathBuf,
    /// Names of the files that were there before.
    older: HashSet<String>,
    /// Names of new files at the last sample.
    last: HashSet<String>,
    /// Number of new files so far.
    count: u64,
    line: String,
}

/// New files at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct NewFiles {
    bytes: u64,
    names: HashSet<String>,
}

impl SharedFolder {
    pub(super) fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let older = names(&folder).collect();
        Self { folder, older, last: HashSet::new(), count: 0, line: String::new() }
    }

    /// Returns the line of a sample; it is empty if nothing has changed, or if there is no such folder.
    pub(super) fn line(&mut self) -> String {
        let Ok(disk) = rustix::fs::statvfs(&self.folder) else { return String::new() };
        let size = disk.f_blocks.saturating_mul(disk.f_frsize);
        let used = disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize);
        let NewFiles { bytes, names } = self.new_files();
        self.count += names.difference(&self.last).count() as u64;
        let (files, so_far) = (names.len(), self.count);
        self.last = names;
        let line =
            format!("# /dev/shm: {used} of {size} bytes in use; {bytes} bytes in {files} new files, {so_far} so far\n");
        if line == self.line {
            return String::new();
        }
        self.line.clone_from(&line);
        line
    }

    /// Returns the line after the end of the program; `None` if it has left nothing.
    pub(super) fn left(&self) -> Option<String> {
        let NewFiles { bytes, names } = self.new_files();
        let first = names.iter().min()?;
        Some(format!("# left in /dev/shm: {bytes} bytes in {} files, such as {first}\n", names.len()))
    }

    fn new_files(&self) -> NewFiles {
        let own = rustix::process::getuid().as_raw();
        let mut new = NewFiles::default();
        for name in names(&self.folder).filter(|name| !self.older.contains(name)).take(MOST_FILES) {
            // A file can be removed while it is looked at.
            let Ok(file) = fs::symlink_metadata(self.folder.join(&name)) else { continue };
            if file.is_file() && file.uid() == own {
                new.bytes = new.bytes.saturating_add(file.blocks().saturating_mul(512));
                new.names.insert(name);
            }
        }
        new
    }
}

/// Returns the names in a folder, with spaces instead of line ends.
fn names(folder: &PathBuf) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), vec![1; 1 << 16]).unwrap();
        write("older");
        let mut watcher = SharedFolder::new(folder.path());
        let end = |line: String| line.split_once("; ").unwrap().1.to_owned();
        assert_eq!(end(watcher.line()), "0 bytes in 0 new files, 0 so far\n");
        write("psm_1");
        write("psm_2");
        let line = end(watcher.line());
        assert!(line.ends_with(" bytes in 2 new files, 2 so far\n") && !line.starts_with("0 "), "{line}");
        fs::remove_file(folder.path().join("psm_1")).unwrap();
        write("psm_3");
        assert!(end(watcher.line()).ends_with(" in 2 new files, 3 so far\n"));
        let left = watcher.left().unwrap();
        assert!(left.ends_with(" bytes in 2 files, such as psm_2\n"), "{left}");
        assert_eq!(SharedFolder::new(folder.path()).left(), None);
        assert_eq!(SharedFolder::new("/no/such/folder").line(), "");
    }
}
