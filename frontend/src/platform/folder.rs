//! Folder of source files that the user chooses; the page reads its files only when it shows them.

use super::browser::window;
use super::drop::chosen_files;
use super::kept::{awaited, next};
use js_sys::{AsyncIterator, Function, Promise, Reflect, Uint8Array};
use shared::base::ShortSort;
use shared::source::{SourceText, Unreadable};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemHandle, HtmlInputElement};

/// Endings of the names of source files.
const SOURCES: [&str; 9] = [".py", ".pyx", ".cpp", ".cc", ".c", ".cu", ".h", ".hpp", ".rs"];

/// Most files and folders that are looked at.
const MOST_ENTRIES: u32 = 100_000;

#[derive(Clone, Debug)]
pub struct Folder(Rc<Files>);

#[derive(Debug)]
struct Files {
    name: String,
    /// Paths below the folder.
    paths: Vec<String>,
    entries: Vec<Entry>,
    is_cut: bool,
}

#[derive(Clone, Debug)]
enum Entry {
    File(File),
    Handle(FileSystemFileHandle),
}

impl PartialEq for Folder {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Folder {
    fn new(name: String, mut found: Vec<(String, Entry)>, is_cut: bool) -> Self {
        found.short_sort_by(|one, other| one.0.cmp(&other.0));
        let (paths, entries) = found.into_iter().unzip();
        Self(Rc::new(Files { name, paths, entries, is_cut }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the paths of the files below the folder, in ascending order.
    pub fn paths(&self) -> &[String] {
        &self.0.paths
    }

    /// Returns true if the folder has too many files, so that some were not looked at.
    pub fn is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// Reads the file at a position of [`paths`](Self::paths); the error is the reason for which it is not shown, as
    /// the end of a sentence about it.
    pub async fn read(&self, position: usize) -> Result<SourceText, String> {
        let unreadable = |_: JsValue| "cannot be read; it may have been moved or changed".to_owned();
        let file = match self.0.entries[position].clone() {
            Entry::File(file) => file,
            Entry::Handle(handle) => awaited(handle.get_file()).await.map_err(unreadable)?,
        };
        if file.size() > SourceText::MAX_BYTES as f64 {
            return Err(Unreadable::TooLarge.words().to_owned());
        }
        let bytes = JsFuture::from(file.array_buffer()).await.map_err(unreadable)?;
        SourceText::new(&Uint8Array::new(&bytes).to_vec()).map_err(|why| why.words().to_owned())
    }
}

/// Returns true if the browser has a dialog for folders; otherwise a file input chooses one.
pub fn has_folder_dialog() -> bool {
    dialog().is_some()
}

fn dialog() -> Option<Function> {
    Reflect::get(&window(), &"showDirectoryPicker".into()).ok()?.dyn_into().ok()
}

/// Lets the user choose a folder; `None` if no folder is chosen or it cannot be read.
pub async fn choose_folder() -> Option<Folder> {
    let promise: Promise = dialog()?.call0(&window()).ok()?.dyn_into().ok()?;
    let folder: FileSystemDirectoryHandle = awaited(promise).await.ok()?;
    let name = folder.unchecked_ref::<FileSystemHandle>().name();
    let (found, is_cut) = files_below(folder).await.ok()?;
    Some(Folder::new(name, found, is_cut))
}

/// Lists the source files below a folder, without hidden folders.
async fn files_below(folder: FileSystemDirectoryHandle) -> Result<(Vec<(String, Entry)>, bool), JsValue> {
    let mut found = Vec::new();
    let mut ahead = vec![(String::new(), folder)];
    let mut seen = 0;
    while let Some((above, folder)) = ahead.pop() {
        let entries: AsyncIterator = folder.values();
        while let Some(entry) = next(entries.next()?).await? {
            seen += 1;
            if seen > MOST_ENTRIES {
                return Ok((found, true));
            }
            let handle: FileSystemHandle = entry.dyn_into()?;
            let name = handle.name();
            match handle.dyn_into::<FileSystemDirectoryHandle>() {
                Ok(_) if name.starts_with('.') => {}
                Ok(inner) => ahead.push((format!("{above}{name}/"), inner)),
                Err(file) if is_source(&name) => {
                    found.push((format!("{above}{name}"), Entry::Handle(file.dyn_into()?)));
                }
                Err(_) => {}
            }
        }
    }
    Ok((found, false))
}

/// Returns the folder that was chosen in an input for folders, and empties the input; `None` without files.
pub fn folder_of(input: &HtmlInputElement) -> Option<Folder> {
    let files = chosen_files(input);
    let mut name = None;
    let mut found = Vec::new();
    for file in files {
        let path = Reflect::get(&file, &"webkitRelativePath".into()).ok().and_then(|path| path.as_string());
        // The path begins with the folder itself.
        let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| file.name());
        let (root, below) = path.split_once('/').unwrap_or(("", &path));
        name.get_or_insert_with(|| root.to_owned());
        if is_source(below) && !below.split('/').any(|part| part.starts_with('.')) {
            found.push((below.to_owned(), Entry::File(file)));
        }
    }
    name.map(|name| Folder::new(name, found, false))
}

fn is_source(name: &str) -> bool {
    SOURCES.iter().any(|ending| name.ends_with(ending))
}
