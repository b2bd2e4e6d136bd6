//! Copies of open files in the storage that the browser gives to this site alone (OPFS).
//!
//! A worker writes them, a page reads and removes them; `boot.js` removes those that are older than a day.
//! Where a browser has no such storage, or the address is not secure, nothing is kept.

use js_sys::{AsyncIterator, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, StorageManager};

/// The folder of all copies, in which each tab has its own; `boot.js` knows it as well.
const FOLDER: &str = "snapscope-kept";

/// A copy that is older is not opened any more.
const DAY_MS: f64 = 86_400_000.0;

/// The browser's storage, `None` where it has none for files.
pub(super) fn storage() -> Option<StorageManager> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    let storage = Reflect::get(&navigator, &"storage".into()).ok()?;
    let has_folders = storage.is_object() && Reflect::has(&storage, &"getDirectory".into()).unwrap_or(false);
    has_folders.then(|| storage.unchecked_into())
}

/// Whether copies can be kept at all.
pub fn can_keep() -> bool {
    storage().is_some()
}

/// The folder of all copies.
///
/// # Errors
/// What the browser says, also where the folder is not there and is not to be made.
pub(super) async fn folder(is_made: bool) -> Result<FileSystemDirectoryHandle, JsValue> {
    let storage = storage().ok_or("no storage")?;
    let top: FileSystemDirectoryHandle = awaited(storage.get_directory()).await?;
    folder_in(&top, FOLDER, is_made).await
}

/// A folder in another.
///
/// # Errors
/// As [`folder`].
pub(super) async fn folder_in(
    folder: &FileSystemDirectoryHandle,
    name: &str,
    is_made: bool,
) -> Result<FileSystemDirectoryHandle, JsValue> {
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(is_made);
    awaited(folder.get_directory_handle_with_options(name, &options)).await
}

/// What a promise comes to.
///
/// # Errors
/// What the browser says.
pub(super) async fn awaited<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    JsFuture::from(promise).await?.dyn_into()
}

/// The names in a folder.
///
/// # Errors
/// What the browser says.
pub(super) async fn names_in(folder: &FileSystemDirectoryHandle) -> Result<Vec<String>, JsValue> {
    let names: AsyncIterator = folder.keys();
    let mut found = Vec::new();
    loop {
        let step = JsFuture::from(names.next()?).await?;
        if Reflect::get(&step, &"done".into())?.is_truthy() {
            return Ok(found);
        }
        found.extend(Reflect::get(&step, &"value".into())?.as_string());
    }
}

/// A file in a folder.
///
/// # Errors
/// What the browser says.
pub(super) async fn file_in(folder: &FileSystemDirectoryHandle, name: &str) -> Result<File, JsValue> {
    let handle: FileSystemFileHandle = awaited(folder.get_file_handle(name)).await?;
    awaited(handle.get_file()).await
}

/// The copy of a file of a tab, `None` if there is none any more or it is not whole.
pub async fn kept_file(session: &str, key: &str, size_bytes: u64) -> Option<File> {
    let folder = folder_in(&folder(false).await.ok()?, session, false).await.ok()?;
    let file = file_in(&folder, key).await.ok()?;
    let is_young = js_sys::Date::now() - file.last_modified() <= DAY_MS;
    (is_young && file.size() == size_bytes as f64).then_some(file)
}

/// Removes the copy of a file of a tab, if there is one.
pub async fn forget_kept(session: &str, key: &str) {
    let removed = async {
        let folder = folder_in(&folder(false).await?, session, false).await?;
        JsFuture::from(folder.remove_entry(key)).await
    };
    // There may be none, and one that is still being written goes after a day.
    let _ = removed.await;
}
