//! Bytes to a trace: every layout and container of a snapshot.

use crate::trace::Trace;

/// Why a file is no snapshot that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Byte offset in the file (in the decompressed stream for containers), where it is known.
    pub offset: Option<u64>,
    /// What is wrong: one sentence.
    pub message: String,
    /// What the user can do: one sentence.
    pub hint: String,
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some(offset) = self.offset {
            write!(f, " (at byte {offset})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ImportError {}

/// Decodes a snapshot that arrives in chunks of any size.
#[derive(Debug, Default)]
pub struct Importer {
    seen_bytes: u64,
}

impl Importer {
    /// An importer that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// As soon as the bytes can't be part of a snapshot; the importer is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        self.seen_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Bytes of the file taken so far.
    pub fn seen_bytes(&self) -> u64 {
        self.seen_bytes
    }

    /// The trace, once all bytes are there.
    ///
    /// # Errors
    /// If the file ends too early or is no snapshot.
    pub fn finish(self) -> Result<Trace, ImportError> {
        Ok(Trace::default())
    }
}

/// Decodes a snapshot that lies in memory as a whole.
///
/// # Errors
/// As [`Importer::push`] and [`Importer::finish`].
pub fn import(bytes: &[u8]) -> Result<Trace, ImportError> {
    let mut importer = Importer::new();
    importer.push(bytes)?;
    importer.finish()
}
