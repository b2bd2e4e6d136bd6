//! What a process that was killed left in a folder of objects.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Stands between an object's name and a number in the name of a file that becomes the object once it is whole.
const MARK: char = '#';

/// Removes such files below a folder, if they were written to last before a time; returns how many.
pub(super) fn remove(folder: &Path, written_before_ms: i64) -> io::Result<u64> {
    let before = UNIX_EPOCH + Duration::from_millis(written_before_ms.try_into().unwrap_or(0));
    let mut removed = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_string_lossy().contains(MARK) && is_older(&entry, before) {
                // It may have become an object in this moment.
                removed += u64::from(fs::remove_file(entry.path()).is_ok());
            }
        }
    }
    Ok(removed)
}

fn is_older(entry: &fs::DirEntry, before: std::time::SystemTime) -> bool {
    entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|modified| modified < before)
}
