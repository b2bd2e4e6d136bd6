//! Removes incomplete files that killed processes left in a folder of objects.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Character in temporary file names, between the object's name and a number; complete objects never have it.
const MARK: char = '#';

/// Removes incomplete files below a folder that were last written before a time, and returns how many.
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
                // The file may just have become an object.
                removed += u64::from(fs::remove_file(entry.path()).is_ok());
            }
        }
    }
    Ok(removed)
}

fn is_older(entry: &fs::DirEntry, before: std::time::SystemTime) -> bool {
    entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|modified| modified < before)
}
