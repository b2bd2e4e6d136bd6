//! Checks that reading any bytes as a pickle never panics or exceeds the memory limit.
#![no_main]

#[path = "../../tests/outside/support/counting.rs"]
mod counting;

use counting::peak_bytes;
use libfuzzer_sys::fuzz_target;
use shared::pickle::{most_memory_bytes, value_from_slice};

fuzz_target!(|bytes: &[u8]| {
    let (_, peak) = peak_bytes(|| value_from_slice(bytes).map(drop));
    let most = most_memory_bytes(bytes.len() as u64);
    assert!(peak <= most, "{} bytes took {peak} bytes, more than {most}", bytes.len());
});
