//! Error type of store operations.

use std::path::Path;
use std::{fmt, io};

#[derive(Debug)]
pub struct StoreError {
    message: String,
    kind: StoreErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The object does not exist.
    NotFound,
    Full,
    /// The store failed or does not answer.
    Failed,
}

impl StoreError {
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Makes the error for a snapshot whose objects vanish as soon as they are written.
    pub(crate) fn lost(hash: &str) -> Self {
        Self { message: format!("it loses the snapshot {hash} as soon as it is written"), kind: StoreErrorKind::Failed }
    }

    pub(super) fn folder(folder: &Path, error: &io::Error) -> Self {
        let kind = kind_of(error.kind());
        Self { message: format!("the folder {} cannot be created: {error}", folder.display()), kind }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store failed: {}", self.message)
    }
}

impl std::error::Error for StoreError {}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self { message: error.to_string(), kind: kind_in(&error) }
    }
}

impl From<object_store::Error> for StoreError {
    fn from(error: object_store::Error) -> Self {
        let kind = match &error {
            object_store::Error::NotFound { .. } => StoreErrorKind::NotFound,
            other => kind_in(other),
        };
        Self { message: error.to_string(), kind }
    }
}

/// Searches the chain of sources for an I/O error that means that no space is left.
fn kind_in(error: &(dyn std::error::Error + 'static)) -> StoreErrorKind {
    let mut source = Some(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>()
            && kind_of(error.kind()) == StoreErrorKind::Full
        {
            return StoreErrorKind::Full;
        }
        source = error.source();
    }
    StoreErrorKind::Failed
}

fn kind_of(kind: io::ErrorKind) -> StoreErrorKind {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreErrorKind::Full,
        _ => StoreErrorKind::Failed,
    }
}
