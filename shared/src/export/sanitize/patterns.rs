//! Replaces what patterns find in texts.

use regex_lite::{Captures, Regex};

/// Kind of a text, which decides what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Source lines and symbols: `a@b.t` is a multiplication, and `host=host` passes an argument.
    Code,
    /// Text written for people.
    Prose,
}

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// Replaces each match for which `change` returns another text.
pub(super) fn replaced(text: &str, pattern: &Regex, change: impl Fn(&Captures<'_>) -> Option<String>) -> String {
    pattern.replace_all(text, |found: &Captures<'_>| change(found).unwrap_or_else(|| found[0].to_owned())).into_owned()
}
