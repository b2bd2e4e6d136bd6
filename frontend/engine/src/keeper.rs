//! Stores the copy of an open file, and decides which stored copies make room for it; runs inside the file's Web
//! Worker.
//!
//! The copy is of a local file, in the browser's private storage, and is made when nothing else is to be done.
//! It belongs to one browser tab and is deleted after a day, or when its tab is closed; the service worker (`sw.js`)
//! stores no snapshot.

use crate::reader::Reader;
use frontend::platform::kept::{awaited, file_in, folder, folder_in, names_in, storage};
use shared::base::ShortSort;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetFileOptions, FileSystemReadWriteOptions,
    FileSystemSyncAccessHandle, StorageEstimate,
};

/// Stores a copy of a file and returns whether it is complete; it stops early once `is_wanted` returns false.
pub(super) async fn keep(file: &File, session: &str, key: &str, is_wanted: impl Fn() -> bool) -> bool {
    let kept = async {
        let folder = folder(true).await?;
        if !make_room(&folder, file.size() as u64, session, key).await? {
            return Ok::<_, JsValue>(false);
        }
        let folder = folder_in(&folder, session, true).await?;
        let is_whole = matches!(write(&folder, key, file, is_wanted).await, Ok(true));
        if !is_whole {
            JsFuture::from(folder.remove_entry(key)).await?;
        }
        Ok(is_whole)
    };
    // If the browser refuses storage, nothing is stored, and the page says so.
    kept.await.unwrap_or(false)
}

/// Removes old copies of other tabs as far as needed, and returns whether there is room.
async fn make_room(
    folder: &FileSystemDirectoryHandle,
    size_bytes: u64,
    session: &str,
    key: &str,
) -> Result<bool, JsValue> {
    let mut copies = copies_in(folder).await?;
    copies.retain(|copy| copy.session != session || copy.key != key);
    let Some(going) = room_for(size_bytes, session, &copies, free_bytes().await) else { return Ok(false) };
    for KeptCopy { session, key, .. } in going {
        let folder = folder_in(folder, &session, false).await?;
        JsFuture::from(folder.remove_entry(&key)).await?;
    }
    Ok(true)
}

async fn copies_in(folder: &FileSystemDirectoryHandle) -> Result<Vec<KeptCopy>, JsValue> {
    let mut copies = Vec::new();
    for session in names_in(folder).await? {
        let tab = folder_in(folder, &session, false).await?;
        for key in names_in(&tab).await? {
            let file = file_in(&tab, &key).await?;
            let (size_bytes, written_ms) = (file.size() as u64, file.last_modified());
            copies.push(KeptCopy { session: session.clone(), key, size_bytes, written_ms });
        }
    }
    Ok(copies)
}

/// Returns the bytes that the browser still grants; `u64::MAX` if it does not tell.
async fn free_bytes() -> u64 {
    let Some(Ok(asked)) = storage().map(|storage| storage.estimate()) else { return u64::MAX };
    let Ok(estimate) = JsFuture::from(asked).await else { return u64::MAX };
    let estimate: StorageEstimate = estimate.unchecked_into();
    match (estimate.get_quota(), estimate.get_usage()) {
        (Some(quota), Some(usage)) => (quota - usage).max(0.0) as u64,
        _ => u64::MAX,
    }
}

/// Writes a file and returns whether it was written to its end.
async fn write(
    folder: &FileSystemDirectoryHandle,
    key: &str,
    file: &File,
    is_wanted: impl Fn() -> bool,
) -> Result<bool, JsValue> {
    let options = FileSystemGetFileOptions::new();
    options.set_create(true);
    let handle: FileSystemFileHandle = awaited(folder.get_file_handle_with_options(key, &options)).await?;
    let access: FileSystemSyncAccessHandle = awaited(handle.create_sync_access_handle()).await?;
    let written = write_chunks(&access, file, is_wanted).await;
    access.close();
    written
}

async fn write_chunks(
    access: &FileSystemSyncAccessHandle,
    file: &File,
    is_wanted: impl Fn() -> bool,
) -> Result<bool, JsValue> {
    access.truncate_with_f64(0.0)?;
    let (mut reader, mut start) = (Reader::of_file(file), 0.0);
    let options = FileSystemReadWriteOptions::new();
    while let Some(bytes) = reader.next_bytes().await? {
        if !is_wanted() {
            return Ok(false);
        }
        options.set_at(start);
        let written = access.write_with_buffer_source_and_options(&bytes, &options)?;
        if written < f64::from(bytes.length()) {
            return Ok(false);
        }
        start += written;
    }
    access.flush()?;
    Ok(true)
}

/// Stored copy of a file, of this tab or of another.
#[derive(Clone, Debug, Default, PartialEq)]
struct KeptCopy {
    /// Folder of the tab.
    session: String,
    /// Name within that folder.
    key: String,
    size_bytes: u64,
    /// Time at which it was written, in milliseconds since 1970.
    written_ms: f64,
}

/// Maximum size of all copies together (2 GiB).
const MOST_BYTES: u64 = 2 << 30;

const MOST_COPIES: usize = 32;

/// Returns the copies to delete so that another one can be stored, `None` if there is no room for it.
///
/// Copies of other tabs are deleted, the oldest first. Copies of this tab remain, because it shows them as stored.
/// `free_bytes` is the storage that the browser still grants; at most 1/2 of it is used.
fn room_for(size_bytes: u64, session: &str, copies: &[KeptCopy], free_bytes: u64) -> Option<Vec<KeptCopy>> {
    let (mut count, mut total) = (copies.len(), copies.iter().map(|copy| copy.size_bytes).sum::<u64>());
    let mut free_bytes = free_bytes;
    let mut of_others: Vec<_> = copies.iter().filter(|copy| copy.session != session).collect();
    // Descending by time, so that the oldest is popped first.
    of_others.short_sort_by(|a, b| b.written_ms.total_cmp(&a.written_ms));
    let mut going = Vec::new();
    while total + size_bytes > MOST_BYTES || count + 1 > MOST_COPIES || size_bytes > free_bytes / 2 {
        let oldest = of_others.pop()?;
        count -= 1;
        total -= oldest.size_bytes;
        free_bytes += oldest.size_bytes;
        going.push(oldest.clone());
    }
    Some(going)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn copy(session: &str, size_bytes: u64, written_ms: f64) -> KeptCopy {
        KeptCopy { session: session.to_owned(), key: written_ms.to_string(), size_bytes, written_ms }
    }

    #[track_caller]
    fn check(size_bytes: u64, copies: &[KeptCopy], free_bytes: u64, going: Option<&[f64]>) {
        let found = room_for(size_bytes, "here", copies, free_bytes);
        let found = found.map(|copies| copies.iter().map(|copy| copy.written_ms).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), going);
    }

    #[test]
    fn there_is_room_for_so_much() {
        check(GIB, &[], 8 * GIB, Some(&[]));
        check(2 * GIB + 1, &[], 80 * GIB, None);
        check(GIB, &[], 2 * GIB - 1, None);
        check(GIB, &[copy("here", GIB, 1.0)], 8 * GIB, Some(&[]));
        check(GIB, &[copy("here", GIB + 1, 1.0)], 8 * GIB, None);
    }

    #[test]
    fn the_oldest_of_other_tabs_go_first() {
        let copies = [copy("there", GIB, 5.0), copy("here", GIB / 2, 1.0), copy("far", GIB / 2, 3.0)];
        check(GIB / 2, &copies, 8 * GIB, Some(&[3.0]));
        check(GIB, &copies, 8 * GIB, Some(&[3.0, 5.0]));
        check(GIB, &copies, GIB, Some(&[3.0, 5.0]));
    }

    #[test]
    fn there_is_room_for_so_many() {
        let copies: Vec<_> = (0..MOST_COPIES).map(|at| copy("there", 1, at as f64)).collect();
        check(1, &copies, GIB, Some(&[0.0]));
        check(1, &copies[1..], GIB, Some(&[]));
    }
}
