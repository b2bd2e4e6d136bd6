//! Makes folders that only their owner can read, because the machine may have other users.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Makes a folder that is removed with its content when the value is dropped, in `parent` or where temporary files are.
pub(crate) fn make_temporary(prefix: &str, parent: Option<&Path>) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let builder = builder.prefix(prefix);
    parent.map_or_else(|| builder.tempdir(), |parent| builder.tempdir_in(parent))
}

/// Makes a folder and its missing parents; an existing folder keeps its permissions.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn nobody_else_can_read_them() {
        let temporary = make_temporary("snapscope-", None).unwrap();
        let below = temporary.path().join("data/below");
        make_private(&below).unwrap();
        for folder in [temporary.path(), &below] {
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
