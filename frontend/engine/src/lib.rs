//! Runs in the Web Worker behind the viewer: decodes a file, and answers questions about it.
//!
//! It is a WebAssembly module of its own, so that the page appears before the decoder and the analyses are loaded.
//! Only `scope`, `reader`, `log_module`, `keeper` and `image` use the browser; `engine` and the order of its work are tested natively.
//!
//! `scope` is the loop: it receives messages and does one piece of work at a time.
//! While no question waits, each device is studied, and one report at a time goes to the page: figures, notices, steps
//! and phases, findings.
//! The worker keeps sorted tables and call trees, and sends only the rows and boxes on and around the screen.
//! While a gesture asks for pictures, it does nothing else, which would delay them and take the browser's processor.
//! A file that is too large for a tab is scanned first; a part of it is then read in the same worker, whose memory
//! never shrinks.

mod engine;

mod image;
mod log_module;
mod queue;
mod scope;

mod keeper;
mod reader;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the Web Worker of a file; `early` holds the messages that arrived before the module was loaded, and
/// `load_log` returns a promise of the module that reads logs.
#[wasm_bindgen]
pub fn worker_main(early: js_sys::Array, load_log: js_sys::Function) {
    scope::run(&early, load_log);
}
