//! What can go wrong with the store.

use std::path::Path;
use std::{fmt, io};

/// A store that did not do what it was asked to.
#[derive(Debug)]
pub struct StoreError {
    message: String,
    kind: StoreErrorKind,
}

/// Which of the things that can go wrong it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such object.
    NotFound,
    /// There is no room left.
    Full,
    /// It failed, or does not answer.
    Failed,
}

impl StoreError {
    /// Which of the things that can go wrong it was.
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Objects of these bytes are gone as soon as they are there.
    pub(crate) fn lost(hash: &str) -> Self {
        Self { message: format!("it keeps no object of the snapshot {hash}"), kind: StoreErrorKind::Failed }
    }

    pub(super) fn folder(folder: &Path, error: &io::Error) -> Self {
        let kind = kind_of(error.kind());
        Self { message: format!("the folder {} cannot be made: {error}", folder.display()), kind }
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

/// Looks for the system's own error below others.
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
