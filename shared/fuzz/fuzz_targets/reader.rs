//! Checks that reading any bytes as a pickle never panics or exceeds the memory limit.
#![no_main]

#[path = "../../tests/outside/support/counting.rs"]
mod counting;
#[path = "../../tests/outside/support/plain.rs"]
mod plain;

use counting::peak_bytes;
use libfuzzer_sys::fuzz_target;
use plain::read;
use shared::pickle::most_memory_bytes;

fuzz_target!(|bytes: &[u8]| {
    let (_, peak) = peak_bytes(|| read(bytes).map(drop));
    let most = most_memory_bytes(bytes.len() as u64);
    assert!(peak <= most, "{} bytes took {peak} bytes, more than {most}", bytes.len());
});
