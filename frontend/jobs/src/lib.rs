//! Pages that submit recording jobs and follow them.
//!
//! Each page is a folder or a file with its components, its hooks and its `model`, which has texts, numbers and drawings,
//! and which is tested natively.
//! A change of a form field changes one key of the config's text, and only this text is submitted.

mod app;
mod common;
mod gallery;
mod job;
mod list;
mod new_job;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// # Panics
/// Panics if the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str) {
    let root = frontend::platform::start(assets);
    yew::Renderer::<app::App>::with_root(root).render();
}
