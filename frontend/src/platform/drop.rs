//! Files and texts that are dropped or pasted anywhere on the page, or chosen in an input.

use super::blob::{file_of, text_blob};
use super::browser::window;
use super::kept::awaited;
use super::keyboard::is_text;
use super::surface::on_event;
use gloo_events::EventListener;
use js_sys::{Array, Promise};
use shared::base::{
    ShortSort,
    file_names::{is_of_no_interest, number_order},
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{
    ClipboardEvent, DataTransfer, DragEvent, Element, File, FileList, FileSystemDirectoryEntry,
    FileSystemDirectoryReader, FileSystemFileEntry, HtmlInputElement,
};

/// Listens for files dragged over the page: `on_over` receives whether files are over it, and `on_files` the files that
/// are dropped, with those of dropped folders.
pub fn on_drop(
    on_over: impl Fn(bool) + Clone + 'static,
    on_files: impl Fn(Vec<File>) + Clone + 'static,
) -> [EventListener; 4] {
    let over = || {
        let on_over = on_over.clone();
        move |event: &DragEvent, transfer: &DataTransfer| {
            if has_files(transfer) {
                event.prevent_default();
                on_over(true);
            }
        }
    };
    let leave = {
        let on_over = on_over.clone();
        // The event also occurs on the way from one child to another; only a leave without a new target leaves the
        // page.
        move |event: &DragEvent, _: &DataTransfer| {
            if event.related_target().is_none() {
                on_over(false);
            }
        }
    };
    let let_go = {
        let on_over = on_over.clone();
        move |event: &DragEvent, transfer: &DataTransfer| {
            event.prevent_default();
            on_over(false);
            let (dropped, on_files) = (dropped(transfer), on_files.clone());
            spawn_local(async move { on_files(dropped.await) });
        }
    };
    [listen("dragenter", over()), listen("dragover", over()), listen("dragleave", leave), listen("drop", let_go)]
}

fn listen(name: &'static str, handle: impl Fn(&DragEvent, &DataTransfer) + 'static) -> EventListener {
    on_event(&window(), name, move |event: &DragEvent| {
        if let Some(transfer) = event.data_transfer() {
            handle(event, &transfer);
        }
    })
}

fn has_files(transfer: &DataTransfer) -> bool {
    transfer.types().includes(&"Files".into(), 0)
}

/// Returns the files of a file input and empties it, so that the same file can be chosen again.
pub fn chosen_files(input: &HtmlInputElement) -> Vec<File> {
    let files = list(input.files());
    input.set_value("");
    files
}

/// Returns the dropped files, those of a folder in the order of the numbers in their names.
///
/// Folders in a folder are left out, as are hidden files and those that are never recordings. What cannot be read is left
/// out too.
fn dropped(transfer: &DataTransfer) -> impl Future<Output = Vec<File>> + use<> {
    // The browser forgets what an event brings when it has been handled.
    let items = transfer.items();
    let items = (0..items.length()).filter_map(|position| items.get(position));
    let entries = items.filter_map(|item| item.webkit_get_as_entry().ok().flatten());
    let folders: Vec<FileSystemDirectoryEntry> =
        entries.filter(|entry| entry.is_directory()).map(JsCast::unchecked_into).collect();
    let mut files = list(transfer.files());
    // A folder is among the files too, as one that cannot be read.
    files.retain(|file| !folders.iter().any(|folder| folder.name() == file.name()));
    async move {
        for folder in &folders {
            let mut found = files_of(folder).await.unwrap_or_default();
            found.short_sort_by_key(|file| number_order(&file.name()));
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
                files.extend(file_of_entry(&entry).await);
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

async fn file_of_entry(entry: &FileSystemFileEntry) -> Option<File> {
    awaited(Promise::new(&mut |resolve, reject| entry.file_with_callback_and_callback(&resolve, &reject))).await.ok()
}

fn list(files: Option<FileList>) -> Vec<File> {
    let Some(files) = files else { return Vec::new() };
    (0..files.length()).filter_map(|position| files.get(position)).collect()
}

/// Name of a pasted text, as that of a file.
const NAME: &str = "Pasted text";

/// Listens for what is pasted outside of text fields, or into the one for it (`data-paste`); `on_files` receives pasted
/// files, or a pasted text as a file.
pub fn on_paste(on_files: impl Fn(Vec<File>) + 'static) -> EventListener {
    on_event(&window(), "paste", move |event: &ClipboardEvent| {
        let Some(clipboard) = event.clipboard_data() else { return };
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let is_box = target.as_ref().is_some_and(|element| element.has_attribute("data-paste"));
        if !is_box && target.as_ref().is_some_and(is_text) {
            return;
        }
        if is_box {
            event.prevent_default();
        }
        let files = list(clipboard.files());
        let text = clipboard.get_data("text/plain").unwrap_or_default();
        if !files.is_empty() {
            on_files(files);
        } else if !text.trim().is_empty() {
            let file = text_blob(&text, "text/plain").ok().and_then(|blob| file_of(&blob, NAME));
            on_files(file.into_iter().collect());
        }
    })
}
