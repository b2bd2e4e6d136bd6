//! Reads sizes within sentences.

/// Returns the bytes of a size such as `20.00 MiB`, `0 bytes` or `6.04 GB`, of which every unit is binary.
pub(super) fn bytes(number: &str, unit: &str) -> Option<u64> {
    let value: f64 = number.parse().ok()?;
    let unit_bytes: u64 = match unit {
        "bytes" | "byte" | "B" => 1,
        "KiB" | "KB" | "K" => 1 << 10,
        "MiB" | "MB" | "M" => 1 << 20,
        "GiB" | "GB" | "G" => 1 << 30,
        "TiB" | "TB" | "T" => 1 << 40,
        "PiB" | "PB" => 1 << 50,
        _ => return None,
    };
    let bytes = value * unit_bytes as f64;
    // More than 2^53 is no size of a memory, but the sign of an overflow in the program that printed it.
    (bytes >= 0.0 && bytes < (1_u64 << 53) as f64).then_some(bytes.round() as u64)
}

/// Returns the size that stands directly before the first of these words.
pub(super) fn before(text: &str, words: &str) -> Option<u64> {
    let (left, _) = text.split_once(words)?;
    let mut last = left.split_ascii_whitespace().rev();
    let (unit, number) = (last.next()?, last.next()?);
    bytes(number.trim_start_matches(|c: char| !c.is_ascii_digit()), unit)
}

/// Returns the size that stands directly behind the first of these words.
pub(super) fn after(text: &str, words: &str) -> Option<u64> {
    let (_, right) = text.split_once(words)?;
    let mut first = right.split_ascii_whitespace();
    let (number, unit) = (first.next()?, first.next()?);
    bytes(number, unit.trim_end_matches(|c: char| !c.is_ascii_alphabetic()))
}

/// Returns the size with which a text begins, whether or not a space stands before its unit: `18.00MiB`, `21.95G`.
pub(super) fn first(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let (number, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    bytes(number, &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_before_and_behind_words() {
        let text = "(GPU 0; 15.78 GiB total capacity; 512 bytes free; max allowed: 6.77 GB).";
        assert_eq!(before(text, " total capacity"), Some((15.78 * f64::from(1 << 30)).round() as u64));
        assert_eq!(before(text, " free"), Some(512));
        assert_eq!(after(text, "max allowed: "), Some((6.77 * f64::from(1 << 30)).round() as u64));
        assert_eq!(before("3.95 GiB", " free"), None);
        assert_eq!(after("free: much memory", "free: "), None);
    }

    #[test]
    fn sizes_may_touch_their_units() {
        assert_eq!(first("98.000244MB memory"), Some(102_760_704));
        assert_eq!(first(" 385.25M."), Some(403_963_904));
        assert_eq!(first("7406166528 bytes."), Some(7_406_166_528));
        assert_eq!(first("0B"), Some(0));
        assert_eq!([first("G"), first("12"), first("12 apples")], [None; 3]);
    }

    #[test]
    fn an_overflow_is_no_size() {
        assert_eq!(bytes("17179869184.00", "GiB"), None);
        assert_eq!(bytes("nan", "GiB"), None);
        assert_eq!(bytes("-1", "GiB"), None);
    }
}
