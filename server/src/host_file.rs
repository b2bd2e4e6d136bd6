//! Reads a log of host memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use shared::host::{HostLog, HostReader, is_host_log};

/// Bytes at the beginning of a file by which it is recognized.
const HEAD_BYTES: usize = 64 << 10;

/// Reads a file if it is a log of host memory.
///
/// `None` also stands for a file that cannot be read, since whoever tries to read a snapshot from it says why.
pub(crate) fn host_log(path: &Path) -> Option<HostLog> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    if !is_host_log(&head) {
        return None;
    }
    let mut reader = HostReader::default();
    reader.push(&head);
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk).ok()? {
            0 => return Some(reader.finish()),
            len => reader.push(&chunk[..len]),
        }
    }
}
