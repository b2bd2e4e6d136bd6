//! Copies of open files in the origin private file system (OPFS), the site's own storage.
//!
//! A Web Worker writes them, a page reads and removes them, and `boot.js` removes those older than a day. If the
//! browser has no such storage, or the address is not secure, nothing is stored.

use js_sys::{AsyncIterator, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, StorageManager};

/// Name of the folder of all copies, which has one folder per tab; `boot.js` uses the same name.
const FOLDER: &str = "snapscope-kept";

/// Age in milliseconds after which a copy is no longer opened.
const DAY_MS: f64 = 86_400_000.0;

/// Returns the browser's storage manager; `None` if it has no file system.
pub fn storage() -> Option<StorageManager> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    let storage = Reflect::get(&navigator, &"storage".into()).ok()?;
    let has_folders = storage.is_object() && Reflect::has(&storage, &"getDirectory".into()).unwrap_or(false);
    has_folders.then(|| storage.unchecked_into())
}

pub fn can_keep() -> bool {
    storage().is_some()
}

/// Opens the folder of all copies, and creates it if `is_made` is set; otherwise it fails if there is none.
pub async fn folder(is_made: bool) -> Result<FileSystemDirectoryHandle, JsValue> {
    let storage = storage().ok_or("no storage")?;
    let top: FileSystemDirectoryHandle = awaited(storage.get_directory()).await?;
    folder_in(&top, FOLDER, is_made).await
}

/// Opens a folder in another one, as [`folder`] does.
pub async fn folder_in(
    folder: &FileSystemDirectoryHandle,
    name: &str,
    is_made: bool,
) -> Result<FileSystemDirectoryHandle, JsValue> {
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(is_made);
    awaited(folder.get_directory_handle_with_options(name, &options)).await
}

/// Awaits a promise and casts its value; the error is the browser's, or the value if it is of another type.
pub async fn awaited<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    JsFuture::from(promise).await?.dyn_into()
}

pub async fn names_in(folder: &FileSystemDirectoryHandle) -> Result<Vec<String>, JsValue> {
    let names: AsyncIterator = folder.keys();
    let mut found = Vec::new();
    while let Some(name) = next(names.next()?).await? {
        found.extend(name.as_string());
    }
    Ok(found)
}

/// Awaits a step of an iterator or of a stream's reader, and returns its value; `None` at the end.
pub async fn next(step: Promise) -> Result<Option<JsValue>, JsValue> {
    let step = JsFuture::from(step).await?;
    let is_done = Reflect::get(&step, &"done".into())?.is_truthy();
    if is_done { Ok(None) } else { Reflect::get(&step, &"value".into()).map(Some) }
}

pub async fn file_in(folder: &FileSystemDirectoryHandle, name: &str) -> Result<File, JsValue> {
    let handle: FileSystemFileHandle = awaited(folder.get_file_handle(name)).await?;
    awaited(handle.get_file()).await
}

/// Returns the copy of a tab's file; `None` if there is none, it is older than a day or it is incomplete.
pub async fn kept_file(session: &str, key: &str, size_bytes: u64) -> Option<File> {
    let folder = folder_in(&folder(false).await.ok()?, session, false).await.ok()?;
    let file = file_in(&folder, key).await.ok()?;
    let is_young = js_sys::Date::now() - file.last_modified() <= DAY_MS;
    (is_young && file.size() == size_bytes as f64).then_some(file)
}

/// Removes the copy of a tab's file, if there is one.
pub async fn forget_kept(session: &str, key: &str) {
    let removed = async {
        let folder = folder_in(&folder(false).await?, session, false).await?;
        JsFuture::from(folder.remove_entry(key)).await
    };
    // There may be no copy, and one that is still being written is removed after a day.
    let _ = removed.await;
}
