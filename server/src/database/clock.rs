//! Reads the time of day in the form that database rows use.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns milliseconds since 1970, or 0 if the clock is set before that.
///
/// The value is for display and expiry only. Liveness is detected with counters, because clocks jump.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
