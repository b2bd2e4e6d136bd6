//! Reads sizes as the tools print them.

/// Returns the bytes of a number with a binary suffix, such as `12.5g`, `3.2Gi`, `512M` or `99KiB`.
///
/// A number without a suffix is in units of `unit_bytes`. A comma is a decimal point, as some locales print it.
pub(super) fn bytes(text: &str, unit_bytes: u64) -> Option<u64> {
    // Most sizes are whole numbers below 2^53, for which the floating point below is exact, but slow.
    if let (Some(number), 1..=15) = (whole(text), text.len()) {
        return number.checked_mul(unit_bytes).filter(|bytes| *bytes < 1 << 53);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(text.len());
    let value: f64 = text[..end].replace(',', ".").parse().ok()?;
    let suffix = text[end..].trim_end_matches(['b', 'B']).trim_end_matches('i');
    let unit_bytes = match suffix.to_ascii_lowercase().as_str() {
        "" if end == text.len() => unit_bytes,
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    let bytes = value * unit_bytes as f64;
    (bytes.is_finite() && bytes < (1_u64 << 53) as f64).then_some(bytes.round() as u64)
}

/// Reads a number that consists of digits.
fn whole(text: &str) -> Option<u64> {
    text.bytes().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number.wrapping_mul(10).wrapping_add(u64::from(byte & 15)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_units_of_their_tools() {
        assert_eq!(bytes("2048", 1 << 10), Some(2 << 20));
        assert_eq!(bytes("1.5g", 1 << 10), Some(3 << 29));
        assert_eq!(bytes("1,5g", 1 << 10), Some(3 << 29));
        assert_eq!(bytes("3.0Gi", 1 << 10), Some(3 << 30));
        assert_eq!(bytes("512B", 1 << 10), Some(512));
        assert_eq!(bytes("7MiB", 1), Some(7 << 20));
    }

    #[test]
    fn other_words_are_no_sizes() {
        for text in ["", ".", "abc", "12x", "1.2.3", "-5", "1e400"] {
            assert_eq!(bytes(text, 1), None, "{text}");
        }
    }
}
