//! The page of Snapscope and the web workers behind it, one WASM module for both.
//!
//! `state`, `view` and `draw` know neither yew nor the browser and are tested natively.

pub mod worker;

pub mod state;

pub mod view;

pub mod draw;

pub mod platform;

pub mod hooks;

pub mod components;

pub mod pages;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the page in the element `app`; `worker_script` is the address of the worker's script.
///
/// # Panics
/// If the document has no such element.
#[wasm_bindgen]
pub fn page_main(worker_script: String) {
    let root = platform::element("app");
    // The text that stands there while the module loads.
    root.set_inner_html("");
    let props = pages::AppProps { worker_script: worker_script.into() };
    yew::Renderer::<pages::App>::with_root_and_props(root, props).render();
}

/// Starts a file's worker; `early` are the messages that came before the module was there.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array) {
    platform::run_worker(&early);
}
