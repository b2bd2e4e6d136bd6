//! Checks that reading and diagnosing a log never panics, keeps its limit of memory, and does not depend on
//! the chunks in which the log arrives.
#![no_main]

#[path = "../../tests/outside/support/counting.rs"]
mod counting;
#[path = "../../logs/tests/outside/law.rs"]
mod law;

use counting::peak_bytes;
use law::{hold, is_same_in_chunks, most_memory_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let ((), peak) = peak_bytes(|| hold(bytes));
    let most = most_memory_bytes(bytes);
    assert!(peak <= most, "{} bytes took {peak} bytes, more than {most}", bytes.len());
    is_same_in_chunks(bytes);
});
