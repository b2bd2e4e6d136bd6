//! Pages that submit recording jobs and follow them.
//!
//! `state`, `platform`, `hooks`, `components` and `pages` are as in the library; texts, numbers and drawings are in
//! `view`.
//! A change of a form field changes one key of the config's text, and only this text is submitted.

mod state;

mod view;

mod platform;

mod hooks;

mod components;

mod pages;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// # Panics
/// Panics if the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str) {
    let root = frontend::platform::start(assets);
    yew::Renderer::<pages::App>::with_root(root).render();
}
