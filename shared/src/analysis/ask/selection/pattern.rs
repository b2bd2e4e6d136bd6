//! Matches plain texts and regular expressions, which filters search for.

use regex_lite::{Regex, RegexBuilder};
use std::fmt;

/// Search text, either plain or a regular expression.
///
/// It is case-sensitive only if it contains a capital letter.
#[derive(Clone, Debug)]
pub struct TextFilter {
    source: String,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    /// Lower-case text, which is searched for in lower-cased texts.
    Small,
    /// Text with capitals, which is searched for as it is.
    Exact,
    Expression(Regex),
}

impl PartialEq for TextFilter {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.is_expression() == other.is_expression()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    message: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid regular expression: {}", self.message)
    }
}

impl std::error::Error for PatternError {}

impl TextFilter {
    pub fn plain(text: &str) -> Self {
        let pattern = if text.chars().any(char::is_uppercase) { Pattern::Exact } else { Pattern::Small };
        Self { source: text.to_owned(), pattern }
    }

    /// Creates a filter from a regular expression, in the syntax of the `regex` crate without its Unicode classes.
    ///
    /// # Errors
    /// Returns an error if the text is not a valid regular expression.
    pub fn expression(text: &str) -> Result<Self, PatternError> {
        let built = RegexBuilder::new(text).case_insensitive(!has_capital(text)).build();
        let regex = built.map_err(|error| PatternError { message: error.to_string() })?;
        Ok(Self { source: text.to_owned(), pattern: Pattern::Expression(regex) })
    }

    pub fn is_in(&self, text: &str) -> bool {
        match &self.pattern {
            Pattern::Small if text.is_ascii() => has_ascii(text.as_bytes(), self.source.as_bytes()),
            Pattern::Small => text.to_lowercase().contains(&self.source),
            Pattern::Exact => text.contains(&self.source),
            Pattern::Expression(regex) => regex.is_match(text),
        }
    }

    fn is_expression(&self) -> bool {
        matches!(self.pattern, Pattern::Expression(_))
    }
}

/// Searches ASCII text for a lower-case text without making a lower-case copy, because most names are ASCII.
fn has_ascii(text: &[u8], small: &[u8]) -> bool {
    small.is_empty() || text.windows(small.len()).any(|part| part.eq_ignore_ascii_case(small))
}

/// Returns true if a regular expression contains a capital letter; those after a backslash denote classes.
fn has_capital(expression: &str) -> bool {
    let mut chars = expression.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_count_where_there_are_any() {
        assert!(TextFilter::plain("adam").is_in("optim/AdamW.py"));
        assert!(!TextFilter::plain("Adamw").is_in("optim/AdamW.py"));
        assert!(TextFilter::plain("größe").is_in("GRÖSSE und Größe"));
        assert!(TextFilter::plain("").is_in(""));
        let expression = |text| TextFilter::expression(text).unwrap();
        assert!(expression(r"adamw\W").is_in("AdamW.py") && expression(r"adamw\Wpy$").is_in("AdamW.py"));
        assert!(!expression("^Adam").is_in("adam"));
    }

    #[test]
    fn a_text_as_it_is_has_no_special_characters() {
        assert!(TextFilter::plain("f(x").is_in("f(x)"));
        let error = TextFilter::expression("f(x").unwrap_err().to_string();
        assert!(error.starts_with("invalid regular expression: "), "{error}");
    }

    #[test]
    fn the_same_text_is_two_filters() {
        assert_ne!(TextFilter::plain("a"), TextFilter::expression("a").unwrap());
        assert_eq!(TextFilter::plain("a"), TextFilter::plain("a"));
    }
}
