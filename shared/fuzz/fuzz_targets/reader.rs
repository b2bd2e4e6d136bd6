//! No bytes make the pickle reader panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shared::pickle::value_from_slice;

fuzz_target!(|bytes: &[u8]| {
    let _ = value_from_slice(bytes);
});
