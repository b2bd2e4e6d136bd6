//! Runs the page that shows snapshots; decoding and analysis are in the module of the Web Worker.

use frontend::{pages, platform};
use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the URL of the folder of its scripts.
///
/// `files` are opened first, and `dialog` names a dialog to begin with. `take_worker` returns a Web Worker that was
/// started in advance, if there is one.
///
/// # Panics
/// Panics if the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str, files: js_sys::Array, dialog: Option<String>, take_worker: js_sys::Function) {
    let root = platform::start(assets);
    platform::keep_spare_worker(take_worker);
    let props = pages::AppProps { files: platform::files_in(&files), dialog: dialog.map(Into::into) };
    yew::Renderer::<pages::App>::with_root_and_props(root, props).render();
}
