//! Files of folders that are dropped on the page.

use super::kept::awaited;
use js_sys::{Array, Promise};
use shared::base::file_names::{is_of_no_interest, number_order};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemDirectoryReader, FileSystemFileEntry};

/// What was dropped: files, and folders whose files are not known yet.
pub(super) struct Dropped {
    files: Vec<File>,
    folders: Vec<FileSystemDirectoryEntry>,
}

impl Dropped {
    /// Returns what an event brings; the browser forgets it when the event has been handled.
    pub(super) fn of(transfer: &DataTransfer) -> Self {
        let items = transfer.items();
        let items = (0..items.length()).filter_map(|position| items.get(position));
        let entries = items.filter_map(|item| item.webkit_get_as_entry().ok().flatten());
        let folders: Vec<FileSystemDirectoryEntry> =
            entries.filter(|entry| entry.is_directory()).map(JsCast::unchecked_into).collect();
        let mut files = list(transfer.files());
        // A folder is among the files too, as one that cannot be read.
        files.retain(|file| !folders.iter().any(|folder| folder.name() == file.name()));
        Self { files, folders }
    }

    /// Returns the files, those of a folder in the order of the numbers in their names.
    ///
    /// Folders in a folder are left out, as are hidden files and those that are never recordings. What cannot be read
    /// is left out too.
    pub(super) async fn all(self) -> Vec<File> {
        let mut files = self.files;
        for folder in &self.folders {
            let mut found = files_of(folder).await.unwrap_or_default();
            found.sort_by_cached_key(|file| number_order(&file.name()));
            files.extend(found);
        }
        files
    }
}

async fn files_of(folder: &FileSystemDirectoryEntry) -> Result<Vec<File>, JsValue> {
    let reader = folder.create_reader();
    let mut files = Vec::new();
    loop {
        let entries = read(&reader).await?;
        // The browser lists a part at a time, and nothing at the end.
        if entries.length() == 0 {
            return Ok(files);
        }
        for entry in entries.iter() {
            let entry: FileSystemFileEntry = entry.unchecked_into();
            if entry.is_file() && !is_of_no_interest(&entry.name()) {
                files.extend(file_of(&entry).await);
            }
        }
    }
}

async fn read(reader: &FileSystemDirectoryReader) -> Result<Array, JsValue> {
    let ask = |resolve, reject| {
        // An error is thrown only if the reader is in use already.
        let _ = reader.read_entries_with_callback_and_callback(&resolve, &reject);
    };
    awaited(Promise::new(&mut { ask })).await
}

async fn file_of(entry: &FileSystemFileEntry) -> Option<File> {
    awaited(Promise::new(&mut |resolve, reject| entry.file_with_callback_and_callback(&resolve, &reject))).await.ok()
}

/// Returns the files of a list.
pub(super) fn list(files: Option<FileList>) -> Vec<File> {
    let Some(files) = files else { return Vec::new() };
    (0..files.length()).filter_map(|position| files.get(position)).collect()
}
