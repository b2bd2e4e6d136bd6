//! Sentences with code in them, as the comments of configs have it.

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words.
    Words(String),
    /// What stands between backticks.
    Code(String),
}

/// The pieces of a text, whose lines are joined.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let joined = text.replace('\n', " ");
    let parts = joined.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts
        .map(|(index, part)| if index % 2 == 0 { Piece::Words(part.into()) } else { Piece::Code(part.into()) })
        .collect()
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
}
