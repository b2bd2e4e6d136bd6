//! The web worker behind the viewer: what decodes a file and answers questions about it.
//!
//! A module of its own, so that the page is there before the decoder and the analyses are.

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts a file's worker; `early` are the messages that came before the module was there.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array) {
    frontend::platform::run_worker(&early);
}
