//! The page that shows snapshots, without what decodes and studies them.

use frontend::{pages, platform};
use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// `files` are opened first, and `dialog` is the name of one to begin with. `take_worker` returns a worker that was
/// started ahead, if there is one.
///
/// # Panics
/// If the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str, files: js_sys::Array, dialog: Option<String>, take_worker: js_sys::Function) {
    let root = platform::start(assets);
    platform::keep_spare_worker(take_worker);
    let props = pages::AppProps { files: platform::files_in(&files), dialog: dialog.map(Into::into) };
    yew::Renderer::<pages::App>::with_root_and_props(root, props).render();
}
