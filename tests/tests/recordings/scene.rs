//! A temporary folder in which a test lays out files.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(super) struct Scene(TempDir);

impl Scene {
    #[track_caller]
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(super) fn top(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.top().join(name)
    }

    /// Writes a file, in a folder that is made if necessary.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        std::fs::write(path, text).expect("room");
    }

    /// Returns the names of the files in a folder that contain `part`, hidden ones too; there are none without the folder.
    pub(super) fn names(&self, folder: &str, part: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<_> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.contains(part));
        names.sort();
        names
    }
}
