//! Folders that only their owner sees: others have accounts on the same machine.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes a folder and those around it that are missing; one that is there keeps its permissions.
///
/// # Errors
///
/// It cannot be made.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
