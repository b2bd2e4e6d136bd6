//! No texts make the cleaning of a copy panic, and no copy has a text that it should not have; a copy of it is the same.
#![no_main]

#[path = "../../tests/support/copies.rs"]
mod copies;

use copies::{hold, traced};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &str| hold(&traced(lines)));
