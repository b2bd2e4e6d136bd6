//! The time of day, as rows have it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; a clock before that counts as 0.
///
/// It is for people to read and for expiry: whether somebody is alive is told from counters, since clocks jump.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
