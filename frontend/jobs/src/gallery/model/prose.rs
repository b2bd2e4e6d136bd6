//! Splits sentences that contain code between backticks, as comments of configs do.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Words(String),
    /// Text between backticks.
    Code(String),
}

/// Splits a text into pieces; its lines are joined by spaces.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let joined = text.replace('\n', " ");
    let parts = joined.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts
        .map(|(index, part)| if index % 2 == 0 { Piece::Words(part.into()) } else { Piece::Code(part.into()) })
        .collect()
}

/// Splits a text after its first sentence.
pub(crate) fn first_sentence(text: &str) -> (&str, &str) {
    // A line of a config's comment is a sentence.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    (first.trim(), rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        let words = |text: &str| Piece::Words(text.to_owned());
        assert_eq!(
            pieces("Append `x.item()`\nhere."),
            [words("Append "), Piece::Code("x.item()".to_owned()), words(" here.")]
        );
        assert_eq!(pieces("Nothing."), [words("Nothing.")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn the_first_sentence_is_the_first_line() {
        assert_eq!(first_sentence("One with `a.b`.\nTwo.\nThree."), ("One with `a.b`.", "Two.\nThree."));
        assert_eq!(first_sentence("One."), ("One.", ""));
    }
}
