//! Runs the Web Worker behind the viewer, which decodes a file and answers questions about it.
//!
//! It is a WebAssembly module of its own, so that the page appears before the decoder and the analyses are loaded.

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the Web Worker of a file; `early` holds the messages that arrived before the module was loaded.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array) {
    frontend::platform::run_worker(&early);
}
