//! Checks that cleaning any texts never panics and leaves no text that has to go.
//!
//! A copy of the copy must be the same.
#![no_main]

#[path = "../../tests/outside/support/copies.rs"]
mod copies;

use copies::{hold, traced};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &str| hold(&traced(lines)));
