//! Writes a file so that it is there as a whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// Callback that takes the pieces of a file in order.
pub(in crate::commands) type Sink<'s> = dyn FnMut(&[u8]) + 's;

/// Writes a file whole or not at all, and returns its size in bytes.
///
/// The content is synced to the disk before the file replaces another one. Its permissions follow the umask, and a name
/// that ends in `.gz` means compression.
pub(in crate::commands) fn write(path: &Path, export: impl FnOnce(&mut Sink<'_>)) -> std::io::Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = beside(folder)?;
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    if is_compressed {
        let mut gzip = GzEncoder::new(BufWriter::new(&file), Compression::default());
        pour(&mut gzip, export)?;
        gzip.finish()?.flush()?;
    } else {
        let mut plain = BufWriter::new(&file);
        pour(&mut plain, export)?;
        plain.flush()?;
    }
    let size_bytes = file.as_file().metadata()?.len();
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(size_bytes)
}

/// Creates a temporary file with ordinary permissions, because temporary files are private to their owner by default.
fn beside(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Writes all pieces, and stops at the first error.
fn pour(writer: &mut impl Write, export: impl FnOnce(&mut Sink<'_>)) -> std::io::Result<()> {
    let mut outcome = Ok(());
    export(&mut |piece| {
        if outcome.is_ok() {
            outcome = writer.write_all(piece);
        }
    });
    outcome
}
