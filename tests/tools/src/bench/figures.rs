//! Formats figures for the tables.

use shared::base::format;

/// Formats seconds, as milliseconds below 0.1 s and as a dash for `None`.
pub(super) fn seconds(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.1 => format!("{:.1} ms", value * 1000.0),
        Some(value) => format!("{value:.2} s"),
    }
}

pub(super) fn bytes(value: f64) -> String {
    format::bytes(value.max(0.0) as u64)
}

/// Formats two times in milliseconds, such as a median and a p95.
pub(super) fn pair_ms(values: Option<(f64, f64)>) -> String {
    values.map_or_else(|| "–".to_owned(), |(first, second)| format!("{first:.1} / {second:.1}"))
}

/// Formats the ratio of `value` to `of`.
pub(super) fn times(value: Option<f64>, of: Option<f64>) -> String {
    match (value, of) {
        (Some(value), Some(of)) if of > 0.0 => format!("{:.2}×", value / of),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_a_dash() {
        assert_eq!(
            (seconds(Some(0.0123)), seconds(Some(1.234)), seconds(None)),
            ("12.3 ms".into(), "1.23 s".into(), "–".into())
        );
        assert_eq!((times(Some(1.0), Some(4.0)), times(None, Some(4.0))), ("0.25×".into(), "–".into()));
        assert_eq!((pair_ms(Some((16.66, 33.3))), pair_ms(None)), ("16.7 / 33.3".into(), "–".into()));
        assert_eq!(bytes(1_572_864.0), "1.50 MiB");
    }
}
