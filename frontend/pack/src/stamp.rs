//! Remembers the input that a packed folder was made from, so that an unchanged one is not packed again.

use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::Paths;
use crate::files::read_folder;
use crate::site::hex;

/// Hash of all input, including this program, and the folder that it belongs to.
pub(crate) struct Stamp {
    hash: String,
    out: PathBuf,
}

impl Stamp {
    /// Hashes the input of a run.
    ///
    /// # Errors
    ///
    /// Returns an error if a path cannot be read.
    pub(crate) fn of(paths: &Paths) -> Result<Self> {
        let mut hasher = Sha256::new();
        // The program is identified by its modification time, because it is many times larger than the page.
        let built = fs::metadata(std::env::current_exe()?)?.modified()?.duration_since(UNIX_EPOCH)?;
        hasher.update(built.as_nanos().to_le_bytes());
        for module in &paths.modules {
            hasher.update(fs::read(module).with_context(|| format!("reading {}", module.display()))?);
        }
        for (path, bytes) in read_folder(&paths.statics)? {
            hasher.update(path);
            hasher.update(bytes);
        }
        Ok(Self { hash: hex(&hasher.finalize()), out: paths.out.clone() })
    }

    /// Returns true if the folder exists and was made from this input.
    pub(crate) fn is_current(&self) -> bool {
        self.out.is_dir() && fs::read_to_string(self.path()).is_ok_and(|hash| hash == self.hash)
    }

    /// Writes the stamp beside the folder, because inside it the stamp would be served.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub(crate) fn save(&self) -> Result<()> {
        fs::write(self.path(), &self.hash).context("writing the stamp")
    }

    fn path(&self) -> PathBuf {
        self.out.with_extension("stamp")
    }
}
