//! The page that shows snapshots, without what decodes and studies them.

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
