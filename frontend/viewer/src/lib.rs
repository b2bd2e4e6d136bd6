//! The page that shows snapshots, without what decodes and studies them.

use frontend::{pages, platform};
use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// `files` are opened first, and `dialog` is the name of one to begin with.
///
/// # Panics
/// If the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str, files: js_sys::Array, dialog: Option<String>) {
    let root = platform::start(assets);
    let props = pages::AppProps { files: platform::files_in(&files), dialog: dialog.map(Into::into) };
    yew::Renderer::<pages::App>::with_root_and_props(root, props).render();
}
