//! Makes folders that only their owner can read, because the machine may have other users.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes a folder and its missing parents; an existing folder keeps its permissions.
///
/// # Errors
///
/// Returns an error if a folder cannot be made.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
