//! Texts to look for.

use regex_lite::{Regex, RegexBuilder};
use std::fmt;

/// A text to look for: as it is, or as a regular expression.
///
/// Case counts only where the text has a capital letter.
#[derive(Clone, Debug)]
pub struct TextFilter {
    source: String,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    /// A text in small letters, which is looked for in texts made small.
    Small,
    /// A text with capitals.
    Exact,
    Expression(Regex),
}

impl PartialEq for TextFilter {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.is_expression() == other.is_expression()
    }
}

/// Why a text is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    message: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is no regular expression: {}", self.message)
    }
}

impl std::error::Error for PatternError {}

impl TextFilter {
    /// Looks for a text as it is.
    pub fn plain(text: &str) -> Self {
        let pattern = if text.chars().any(char::is_uppercase) { Pattern::Exact } else { Pattern::Small };
        Self { source: text.to_owned(), pattern }
    }

    /// Looks for a regular expression, in the language of the regex crate without its Unicode classes.
    ///
    /// # Errors
    /// If the text is no regular expression.
    pub fn expression(text: &str) -> Result<Self, PatternError> {
        let built = RegexBuilder::new(text).case_insensitive(!has_capital(text)).build();
        let regex = built.map_err(|error| PatternError { message: error.to_string() })?;
        Ok(Self { source: text.to_owned(), pattern: Pattern::Expression(regex) })
    }

    /// Whether it is found in a text.
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

/// Most names are plain ASCII, which needs no copy in small letters.
fn has_ascii(text: &[u8], small: &[u8]) -> bool {
    small.is_empty() || text.windows(small.len()).any(|part| part.eq_ignore_ascii_case(small))
}

/// Whether a regular expression names a capital letter: those after a backslash are classes.
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
        assert!(error.starts_with("this is no regular expression: "), "{error}");
    }

    #[test]
    fn the_same_text_is_two_filters() {
        assert_ne!(TextFilter::plain("a"), TextFilter::expression("a").unwrap());
        assert_eq!(TextFilter::plain("a"), TextFilter::plain("a"));
    }
}
