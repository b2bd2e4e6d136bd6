//! Reads numbers behind words.

use crate::base::size::leading_number;

/// Returns the number behind the first of these words, without separators of thousands.
pub(super) fn number(text: &str, words: &str) -> Option<u64> {
    let (number, _) = leading_number(text.split_once(words)?.1);
    number.parse().ok()
}

/// Returns the number behind the first of these words in a fraction of one, such as 100 for hundredths.
pub(super) fn fraction(text: &str, words: &str, of: f64) -> Option<u64> {
    let (number, _) = leading_number(text.split_once(words)?.1);
    let value: f64 = number.parse().ok()?;
    (0.0..1e12).contains(&value).then(|| (value * of).round() as u64)
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
}
