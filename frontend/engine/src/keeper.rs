//! Stores the copy of an open file; runs inside the file's Web Worker.
//!
//! The copy is of a local file, in the browser's private storage, and is made when nothing else is to be done.
//! It belongs to one browser tab and is deleted after a day, or when its tab is closed; the service worker (`sw.js`)
//! stores no snapshot.

use crate::keeping::{KeptCopy, room_for};
use crate::reader::Reader;
use frontend::platform::kept::{awaited, file_in, folder, folder_in, names_in, storage};
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
