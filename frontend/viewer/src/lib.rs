//! The page that shows snapshots and the web workers behind it, one WASM module for both.

use frontend::{pages, platform};
use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// # Panics
/// If the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str) {
    let root = platform::start(assets);
    yew::Renderer::<pages::App>::with_root(root).render();
}

/// Starts a file's worker; `early` are the messages that came before the module was there.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array) {
    platform::run_worker(&early);
}
