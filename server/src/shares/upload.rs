//! Counts and hashes an upload while it arrives.

use std::path::Path;

use actix_web::web::Bytes;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use crate::hex::hex;

/// Magic number of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reason to refuse an upload.
#[derive(Debug)]
pub enum UploadError {
    /// The upload exceeds its limit.
    TooLarge,
    /// The upload is not compressed with gzip.
    NotGzip,
    /// The file cannot be written.
    Io(std::io::Error),
}

impl From<std::io::Error> for UploadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// A growing temporary file, deleted on drop unless it is finished and stored.
#[derive(Debug)]
pub struct Upload {
    place: NamedTempFile,
    file: File,
    hasher: Sha256,
    start: Vec<u8>,
    bytes: u64,
    most_bytes: u64,
}

impl Upload {
    pub fn start(folder: &Path, most_bytes: u64) -> std::io::Result<Self> {
        let place = tempfile::Builder::new().prefix("upload-").tempfile_in(folder)?;
        let file = File::from_std(place.reopen()?);
        Ok(Self { place, file, hasher: Sha256::new(), start: Vec::new(), bytes: 0, most_bytes })
    }

    /// Appends the next piece.
    ///
    /// # Errors
    ///
    /// Returns an error if the upload becomes too large, cannot be written, or does not start with the magic number of
    /// gzip.
    pub async fn push(&mut self, piece: &Bytes) -> Result<(), UploadError> {
        self.bytes += piece.len() as u64;
        if self.bytes > self.most_bytes {
            return Err(UploadError::TooLarge);
        }
        if self.start.len() < GZIP.len() {
            self.start.extend(piece.iter().take(GZIP.len() - self.start.len()));
            if !GZIP.starts_with(&self.start) {
                return Err(UploadError::NotGzip);
            }
        }
        self.hasher.update(piece);
        self.file.write_all(piece).await?;
        Ok(())
    }

    /// Completes the upload and returns its file, its SHA-256 in hexadecimal, and its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or is too short to be gzip.
    pub async fn finish(mut self) -> Result<(NamedTempFile, String, u64), UploadError> {
        self.file.flush().await?;
        if self.start.len() < GZIP.len() {
            return Err(UploadError::NotGzip);
        }
        let hash = hex(self.hasher.finalize());
        Ok((self.place, hash, self.bytes))
    }
}
