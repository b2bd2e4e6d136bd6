//! Hands over from the small start page to the viewer, which is a module of its own.

use js_sys::{Array, Function, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

/// Loads the viewer and passes it the files that were chosen meanwhile.
#[derive(Clone, Debug)]
pub struct HandOver {
    call: Function,
    /// The viewer receives this array itself, so that it includes files that are added until the viewer is loaded.
    files: Array,
}

impl PartialEq for HandOver {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call && self.files == other.files
    }
}

impl HandOver {
    /// Wraps `call`, which takes an array of files and a string or nothing, and returns a promise.
    pub fn new(call: Function) -> Self {
        Self { call, files: Array::new() }
    }

    /// Adds files for the viewer.
    pub fn add(&self, files: &[File]) {
        for file in files {
            self.files.push(file);
        }
    }

    /// Removes the files.
    pub fn clear(&self) {
        self.files.set_length(0);
    }

    /// Replaces the page by the viewer, with a dialog if one is named; returns false if the viewer failed to load.
    pub async fn go(&self, dialog: Option<&str>) -> bool {
        let dialog = dialog.map_or(JsValue::UNDEFINED, JsValue::from_str);
        let called = self.call.call2(&JsValue::NULL, &self.files, &dialog);
        match called.and_then(|promise| promise.dyn_into::<Promise>()) {
            Ok(promise) => JsFuture::from(promise).await.is_ok(),
            Err(_) => false,
        }
    }
}

/// Returns the files in an array.
pub fn files_in(array: &Array) -> Vec<File> {
    array.iter().filter_map(|file| file.dyn_into().ok()).collect()
}
