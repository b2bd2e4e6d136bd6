//! Files that come from outside of the page: from the start page, from the operating system, or for another page.

use super::address::site_url;
use super::browser::window;
use super::session::tab_storage;
use js_sys::{Array, Function, Promise, Reflect};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::File;

/// Loads the viewer and passes it the files that were chosen meanwhile.
#[derive(Clone, Debug)]
pub struct HandOver {
    call: Function,
    /// The viewer receives this array itself, so that it includes files that are added until the viewer is loaded.
    files: Array,
    /// Address of a snapshot that the viewer opens.
    address: Rc<RefCell<Option<String>>>,
}

impl PartialEq for HandOver {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call && self.files == other.files
    }
}

impl HandOver {
    /// Wraps `call`, which takes an array of files and two strings or nothing: the name of a dialog and an address.
    ///
    /// It returns a promise.
    pub fn new(call: Function) -> Self {
        Self { call, files: Array::new(), address: Rc::default() }
    }

    pub fn add(&self, files: &[File]) {
        for file in files {
            self.files.push(file);
        }
    }

    /// Sets the path below the site's top of a snapshot for the viewer.
    pub fn open(&self, path: &str) {
        *self.address.borrow_mut() = Some(site_url(path));
    }

    pub fn clear(&self) {
        self.files.set_length(0);
        self.address.take();
    }

    /// Replaces the page by the viewer, with a dialog if one is named; returns false if the viewer failed to load.
    pub async fn go(&self, dialog: Option<&str>) -> bool {
        let text = |text: Option<&str>| text.map_or(JsValue::UNDEFINED, JsValue::from_str);
        let address = text(self.address.borrow().as_deref());
        let called = self.call.call3(&JsValue::NULL, &self.files, &text(dialog), &address);
        match called.and_then(|promise| promise.dyn_into::<Promise>()) {
            Ok(promise) => JsFuture::from(promise).await.is_ok(),
            Err(_) => false,
        }
    }
}

pub fn files_in(array: &Array) -> Vec<File> {
    array.iter().filter_map(|file| file.dyn_into().ok()).collect()
}

/// Calls `on_files` for each launch with files, including launches before this call.
///
/// Browsers that cannot install pages have no launch queue, and nothing happens.
pub fn on_launch(on_files: impl Fn(Vec<File>) + Clone + 'static) {
    let consumer: Closure<dyn FnMut(JsValue)> = Closure::new(move |launch: JsValue| {
        let on_files = on_files.clone();
        spawn_local(async move {
            // The handle of a file that was removed meanwhile gives an error.
            let files = files_of(&launch).await.unwrap_or_default();
            if !files.is_empty() {
                on_files(files);
            }
        });
    });
    let listening = || -> Result<(), JsValue> {
        let queue = Reflect::get(&window(), &"launchQueue".into())?;
        method(&queue, "setConsumer")?.call1(&queue, consumer.as_ref()).map(drop)
    };
    if listening().is_ok() {
        // The page listens as long as it is open.
        consumer.forget();
    }
}

async fn files_of(launch: &JsValue) -> Result<Vec<File>, JsValue> {
    let handles: Array = Reflect::get(launch, &"files".into())?.dyn_into()?;
    let mut files = Vec::new();
    for handle in handles.iter() {
        let promise: Promise = method(&handle, "getFile")?.call0(&handle)?.dyn_into()?;
        files.push(JsFuture::from(promise).await?.dyn_into()?);
    }
    Ok(files)
}

fn method(object: &JsValue, name: &str) -> Result<Function, JsValue> {
    Reflect::get(object, &name.into())?.dyn_into()
}

/// Session storage key of the config; the stored text has its name in the first line.
const NAME: &str = "snapscope-config";

/// Size limit for a config that is passed on; the job pages already refuse smaller ones.
const MOST_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// Stores a config for the page for new jobs and goes there; if it cannot be stored, that page shows its example.
pub async fn bring_to_jobs(file: &File) {
    let text = if file.size() > MOST_BYTES { None } else { JsFuture::from(file.text()).await.ok() };
    let text = text.and_then(|text| text.as_string());
    let line = format!("{}\n", file.name().replace('\n', " "));
    let is_kept = text.is_some_and(|text| {
        tab_storage().is_some_and(|storage| storage.set_item(NAME, &format!("{line}{text}")).is_ok())
    });
    let path = if is_kept { "jobs?new&brought" } else { "jobs?new" };
    // Only an address that can't be parsed is an error.
    let _ = window().location().set_href(&site_url(path));
}

/// Returns the name and text of the config that was last passed on in this tab, also after a reload.
pub fn brought_config() -> Option<(String, String)> {
    let kept = tab_storage()?.get_item(NAME).ok()??;
    let (name, text) = kept.split_once('\n')?;
    Some((name.to_owned(), text.to_owned()))
}
