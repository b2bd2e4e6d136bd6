//! Reads logs: files that are no snapshots and say something about memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use shared::log::{Log, LogReader, is_log};
use shared::profile::is_profile;

/// Bytes at the beginning of a file by which it is recognized.
const HEAD_BYTES: usize = 64 << 10;

/// Reads a file if its beginning is a log.
///
/// `None` also stands for a file that cannot be read, since whoever tries to read a snapshot from it says why.
pub(crate) fn log(path: &Path) -> Option<Log> {
    let (head, file) = open(path)?;
    if !is_log(&head) {
        return None;
    }
    read(head.as_slice().chain(file))
}

/// Reads a text of which only later parts say something about memory, such as the log of a training that failed.
pub(crate) fn late_log(path: &Path) -> Option<Log> {
    let (head, file) = open(path)?;
    // A broken snapshot of gigabytes is not read for a second time.
    if head.contains(&0) {
        return None;
    }
    read(head.as_slice().chain(file)).filter(|log| !log.is_empty())
}

/// Returns true if a file is a trace of torch.profiler.
pub(crate) fn is_trace(path: &Path) -> bool {
    open(path).is_some_and(|(head, _)| is_profile(&head))
}

/// Reads a log from its start to its end; `None` if it cannot be read.
pub(crate) fn read(mut source: impl Read) -> Option<Log> {
    let mut reader = LogReader::default();
    let mut chunk = vec![0; 1 << 20];
    loop {
        match source.read(&mut chunk).ok()? {
            0 => return Some(reader.finish()),
            len => reader.push(&chunk[..len]),
        }
    }
}

/// Opens a file and reads its beginning.
fn open(path: &Path) -> Option<(Vec<u8>, File)> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    Some((head, file))
}
