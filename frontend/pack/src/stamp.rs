//! Remembers what a packed folder was made from.

use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::Paths;
use crate::site::{hex, read_folder};

/// The hash of all input, this program included, and where the last one is kept.
pub(crate) struct Stamp {
    hash: String,
    out: PathBuf,
}

impl Stamp {
    /// Hashes the input of a run.
    ///
    /// # Errors
    ///
    /// A path cannot be read.
    pub(crate) fn of(paths: &Paths) -> Result<Self> {
        let mut hasher = Sha256::new();
        // Of this program the time is enough; it is many times larger than the page.
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

    /// Whether the folder is there and was made from this input.
    pub(crate) fn is_current(&self) -> bool {
        self.out.is_dir() && fs::read_to_string(self.path()).is_ok_and(|hash| hash == self.hash)
    }

    /// Writes the stamp beside the folder: in it, it would be served.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn save(&self) -> Result<()> {
        fs::write(self.path(), &self.hash).context("writing the stamp")
    }

    fn path(&self) -> PathBuf {
        self.out.with_extension("stamp")
    }
}
