//! Makes the private folder of the package, which goes on `PYTHONPATH`.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::commands::python;
use crate::folder::make_temporary;

/// Starts the recorder in each Python process.
const HOOK: &[python::File] = python::files!("record/": "snapscope_begin.py");

/// The folder, which is removed when this value is dropped.
pub(super) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Makes the folder, which only its owner can read.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder for temporary files is full or cannot be written.
    pub(super) fn make() -> io::Result<Self> {
        let made = Self { folder: make_temporary("snapscope-record-", None)? };
        python::write_package(&made.packages())?;
        python::write(&made.packages(), HOOK)?;
        Ok(made)
    }

    /// Returns the folder of the package; its name tells viewers that the package is not the user's own code.
    pub(super) fn packages(&self) -> PathBuf {
        self.folder.path().join("site-packages")
    }

    /// Returns the file to which the processes append the names of their snapshots.
    pub(super) fn report(&self) -> PathBuf {
        self.folder.path().join("written")
    }

    /// Returns the paths of all snapshots, in the order in which they were written.
    pub(super) fn written(&self) -> Vec<String> {
        let text = fs::read_to_string(self.report()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
