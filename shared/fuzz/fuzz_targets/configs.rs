//! Checks that reading a training config never panics or exceeds its memory limit, and that its job survives being
//! written.
#![no_main]

#[path = "../../tests/outside/support/configs.rs"]
mod configs;
#[path = "../../tests/outside/support/counting.rs"]
mod counting;

use configs::{hold, most_memory_bytes};
use counting::peak_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let ((), peak) = peak_bytes(|| hold(input));
    let most = most_memory_bytes(input.len());
    assert!(peak <= most, "{} bytes took {peak} bytes, more than {most}", input.len());
});
