//! Allowed words and bounds of the keys of a config, for forms; the parser uses the same declarations.

use std::ops::RangeInclusive;

use super::raw::RawJob;

/// Returns the words that a key accepts, in the order of the reference; empty if it accepts none.
///
/// Cards are not listed, since `card` also accepts lists and sizes: see [`Card::all`](super::Card::all).
pub fn words(path: &str) -> Vec<&'static str> {
    RawJob::domain(path).map(|domain| domain.words()).unwrap_or_default()
}

/// Returns the bounds of a key, `None` if it takes no whole number.
pub fn bounds(path: &str) -> Option<RangeInclusive<u64>> {
    RawJob::domain(path)?.bounds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RawJob;

    /// Checks that a config accepts each word of a key, and refuses another.
    #[track_caller]
    fn check(path: &str, config: impl Fn(&str) -> String) {
        let refused = |word: &str| {
            let raw = RawJob::from_toml(&config(word)).unwrap();
            let problems = raw.resolve().err().unwrap_or_default();
            problems.iter().any(|problem| problem.message.contains("unknown value"))
        };
        assert!(!words(path).is_empty(), "{path}");
        for word in words(path) {
            assert!(!refused(word), "{path} = {word}");
        }
        assert!(refused("nonsense"), "{path}: the check can fail");
    }

    #[test]
    fn configs_take_the_words() {
        check("precision", |word| format!("model = \"mlp\"\nprecision = \"{word}\""));
        check("optimizer.kind", |word| format!("model = \"mlp\"\noptimizer = \"{word}\""));
        check("optimizer.implementation", |word| {
            format!("model = \"mlp\"\noptimizer = {{ implementation = \"{word}\" }}")
        });
        check("model.attention", |word| format!("model = {{ preset = \"gpt2\", attention = \"{word}\" }}"));
        check("parallel.kind", |word| format!("model = \"gpt2\"\nparallel = {{ kind = \"{word}\" }}"));
    }

    #[test]
    fn keys_without_words_or_bounds_have_none() {
        assert_eq!(words("batch"), [""; 0]);
        assert_eq!(bounds("batch"), Some(1..=1 << 16));
        assert_eq!(bounds("precision"), None);
    }
}
