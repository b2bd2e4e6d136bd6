//! Reads numbers and sizes behind words.

/// Returns the number behind the first of these words, without separators of thousands.
pub(super) fn number(text: &str, words: &str) -> Option<u64> {
    let (number, _) = digits(text.split_once(words)?.1);
    number.parse().ok()
}

/// Returns the number behind the first of these words in a fraction of one, such as 100 for hundredths.
pub(super) fn fraction(text: &str, words: &str, of: f64) -> Option<u64> {
    let (number, _) = digits(text.split_once(words)?.1);
    let value: f64 = number.parse().ok()?;
    (0.0..1e12).contains(&value).then(|| (value * of).round() as u64)
}

/// Returns the size behind the first of these words, such as `2.88GiB`, `-0.51GiB`, `8.13 GB` and `59212694937 bytes`.
///
/// Both engines divide by 2^30 where they write GB.
pub(super) fn size(text: &str, words: &str) -> Option<i64> {
    leading_size(text.split_once(words)?.1)
}

/// Returns the size in front of the first of these words, such as `14.08 GiB for weight`.
pub(super) fn size_before(text: &str, words: &str) -> Option<i64> {
    let (left, _) = text.split_once(words)?;
    let part = left.rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ' ' | '-'))).next()?;
    let start = part.find(|c: char| c.is_ascii_digit() || c == '-')?;
    leading_size(&part[start..])
}

/// Reads the size with which a text begins.
pub(super) fn leading_size(text: &str) -> Option<i64> {
    let (number, rest) = digits(text);
    let value: f64 = number.parse().ok()?;
    let unit = rest.trim_start();
    let unit_bytes = [("GiB", 30), ("GB", 30), ("MiB", 20), ("MB", 20), ("bytes", 0)];
    let (_, shift) = unit_bytes.into_iter().find(|(name, _)| unit.starts_with(name))?;
    let bytes = value * (1_u64 << shift) as f64;
    (bytes.abs() < (1_u64 << 53) as f64).then_some(bytes.round() as i64)
}

/// Splits a text behind its first number, and removes separators of thousands.
fn digits(text: &str) -> (String, &str) {
    let text = text.trim_start_matches([' ', '(']);
    let is_of_number =
        |(at, c): &(usize, char)| c.is_ascii_digit() || matches!(c, '.' | ',') || (*at == 0 && *c == '-');
    let end = text.char_indices().find(|one| !is_of_number(one)).map_or(text.len(), |(at, _)| at);
    let number = text[..end].trim_end_matches([',', '.']);
    (number.replace(',', ""), &text[number.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_ends() {
        assert_eq!(number("GPU KV cache size: 158,656 tokens", "size: "), Some(158_656));
        assert_eq!(number("max_total_num_tokens=834615, chunked", "tokens="), Some(834_615));
        assert_eq!(fraction("per request: 4.84x", "request: ", 100.0), Some(484));
        assert_eq!(fraction("is (0.9, 71.27 GiB)", "is ", 1000.0), Some(900));
        assert_eq!([number("a: ", "a: "), number("b", "a: "), number("a: x1", "a: ")], [None; 3]);
    }

    #[test]
    fn sizes_have_units() {
        const GIB: f64 = (1 << 30) as f64;
        let gib = |value: f64| Some((value * GIB).round() as i64);
        assert_eq!(size("take 2.88GiB; non", "take "), gib(2.88));
        assert_eq!(size("takes -0.51GiB;", "takes "), gib(-0.51));
        assert_eq!(size("mem usage=8.13 GB.", "usage="), gib(8.13));
        assert_eq!(size("in use is 59212694937 bytes.", "is "), Some(59_212_694_937));
        assert_eq!(size_before("usage is 14.08 GiB for weight, 1", " for weight"), gib(14.08));
        assert_eq!(size_before("and 0.67 GiB for CUDAGraph memory", " for CUDAGraph"), gib(0.67));
        assert_eq!(size_before("usage is •14.08 GiB for weight", " for weight"), gib(14.08));
        assert_eq!([size("a 7", "a "), size("a 7 apples", "a "), size_before("x for", " for")], [None; 3]);
    }
}
