//! An upload on its way to the store: counted and hashed while it comes.

use std::path::Path;

use actix_web::web::Bytes;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use crate::hex::hex;

/// The first bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why an upload is not taken.
#[derive(Debug)]
pub enum UploadError {
    /// It has more bytes than it may.
    TooLarge,
    /// It is not compressed with gzip.
    NotGzip,
    /// It cannot be written down.
    Io(std::io::Error),
}

impl From<std::io::Error> for UploadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file that grows; it goes with this value unless it is stored.
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
    /// An empty upload in a folder.
    ///
    /// # Errors
    ///
    /// Nothing can be written there.
    pub fn start(folder: &Path, most_bytes: u64) -> std::io::Result<Self> {
        let place = tempfile::Builder::new().prefix("upload-").tempfile_in(folder)?;
        let file = File::from_std(place.reopen()?);
        Ok(Self { place, file, hasher: Sha256::new(), start: Vec::new(), bytes: 0, most_bytes })
    }

    /// Takes the next piece.
    ///
    /// # Errors
    ///
    /// It is one too many, it cannot be written, or the first bytes are not those of gzip.
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

    /// The whole upload: its file, its hash in hexadecimal, and its bytes.
    ///
    /// # Errors
    ///
    /// It cannot be written, or is too short to be compressed.
    pub async fn finish(mut self) -> Result<(NamedTempFile, String, u64), UploadError> {
        self.file.flush().await?;
        if self.start.len() < GZIP.len() {
            return Err(UploadError::NotGzip);
        }
        let hash = hex(self.hasher.finalize());
        Ok((self.place, hash, self.bytes))
    }
}
