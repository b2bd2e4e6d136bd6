//! Whatever can be imported can be exported: a snapshot of it is the same trace, every other form is well formed.
#![no_main]

#[path = "../../tests/support/exports.rs"]
mod exports;

use libfuzzer_sys::fuzz_target;
use shared::import::import;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = import(bytes) {
        exports::export(&trace);
    }
});
