//! Checks every export of any snapshot that can be imported: snapshots are the same trace, other forms are well formed.
#![no_main]

#[path = "../../tests/outside/support/exports.rs"]
mod exports;

use libfuzzer_sys::fuzz_target;
use shared::import::import;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = import(bytes) {
        exports::export(&trace);
    }
});
