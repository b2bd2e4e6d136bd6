//! Waiting for what happens elsewhere.

use std::time::{Duration, Instant};

/// Timeout of any wait. Only what is broken reaches it, so it is far longer than a busy machine takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Polls until a condition holds.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        pause(start);
    }
}

/// Asks for a value until it satisfies a condition, and returns it.
#[track_caller]
pub fn ask_until<T: std::fmt::Debug>(mut ask: impl FnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    let mut value = ask();
    let start = Instant::now();
    while !is_so(&value) {
        assert!(start.elapsed() < PATIENCE, "waited in vain, the last is {value:?}");
        pause(start);
        value = ask();
    }
    value
}

/// Pauses longer after the first seconds, because a server limits the requests of an address.
fn pause(start: Instant) {
    let is_long = start.elapsed() > Duration::from_secs(5);
    std::thread::sleep(Duration::from_millis(if is_long { 200 } else { 20 }));
}
