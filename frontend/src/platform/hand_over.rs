//! The way from the small page without a file to the viewer, which is a module of its own.

use js_sys::{Array, Function, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

/// Loads the viewer, and gives it what was chosen meanwhile.
#[derive(Clone, Debug)]
pub struct HandOver {
    call: Function,
    /// The viewer sees what is added until it is there.
    files: Array,
}

impl PartialEq for HandOver {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call && self.files == other.files
    }
}

impl HandOver {
    /// `call` takes an array of files and a text or nothing, and returns a promise.
    pub fn new(call: Function) -> Self {
        Self { call, files: Array::new() }
    }

    /// Keeps files for the viewer.
    pub fn add(&self, files: &[File]) {
        for file in files {
            self.files.push(file);
        }
    }

    /// Forgets the files.
    pub fn clear(&self) {
        self.files.set_length(0);
    }

    /// Lets the viewer take the place of the page, with a dialog by its name; says whether it came.
    pub async fn go(&self, dialog: Option<&str>) -> bool {
        let dialog = dialog.map_or(JsValue::UNDEFINED, JsValue::from_str);
        let called = self.call.call2(&JsValue::NULL, &self.files, &dialog);
        match called.and_then(|promise| promise.dyn_into::<Promise>()) {
            Ok(promise) => JsFuture::from(promise).await.is_ok(),
            Err(_) => false,
        }
    }
}

/// The files in an array.
pub fn files_in(array: &Array) -> Vec<File> {
    array.iter().filter_map(|file| file.dyn_into().ok()).collect()
}
