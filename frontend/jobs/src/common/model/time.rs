//! Formats moments and durations for display.

use shared::base::format;

/// Formats the age of a moment: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
///
/// A moment in the future, which a wrong clock can cause, is `just now`.
pub(crate) fn ago(now_ms: f64, then_ms: i64) -> String {
    let seconds = ((now_ms - then_ms as f64) / 1000.0).max(0.0) as u64;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} ago", format::counted(seconds / 86_400, "day")),
    }
}

/// Formats a duration given in seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    format::duration((seconds.max(0.0) * 1e6) as u64)
}

/// Formats the time between two moments given in milliseconds.
pub(crate) fn between(start_ms: i64, end_ms: i64) -> String {
    seconds((end_ms - start_ms) as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, expected: &str) {
        assert_eq!(ago(1e12, 1_000_000_000_000 - seconds * 1000), expected);
    }

    #[test]
    fn the_past_is_told_roughly() {
        check(-5, "just now");
        check(59, "just now");
        check(60, "1 min ago");
        check(7200, "2 h ago");
        check(86_400, "1 day ago");
        check(200_000, "2 days ago");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(between(1000, 3500), "2.50 s");
        assert_eq!(seconds(-1.0), "0 µs");
    }
}
