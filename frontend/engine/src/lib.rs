//! Runs in the Web Worker behind the viewer: decodes a file, and answers questions about it.
//!
//! It is a WebAssembly module of its own, so that the page appears before the decoder and the analyses are loaded.
//! Only `scope`, `reader`, `keeper` and `image` use the browser; `engine` and the order of its work are tested natively.

mod engine;

mod first_picture;
mod queue;
mod scope;

mod image;
mod keeper;
mod keeping;
mod reader;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the Web Worker of a file; `early` holds the messages that arrived before the module was loaded.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array) {
    scope::run(&early);
}
