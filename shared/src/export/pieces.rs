//! Writes text in pieces, so that a document of millions of rows is never in memory as a whole.

use std::fmt::{Arguments, Write as _};

/// Approximate length in bytes at which a piece goes to the sink.
const PIECE_BYTES: usize = 1 << 16;

/// Buffer that collects text and gives it to a sink in pieces.
pub(super) struct Pieces<S> {
    text: String,
    sink: S,
}

impl<S: FnMut(&[u8])> Pieces<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { text: String::with_capacity(PIECE_BYTES * 2), sink }
    }

    /// Appends a text, as in `put(format_args!(…))`.
    pub(super) fn put(&mut self, text: Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.text.write_fmt(text);
        if self.text.len() >= PIECE_BYTES {
            (self.sink)(self.text.as_bytes());
            self.text.clear();
        }
    }

    /// Gives the rest to the sink.
    pub(super) fn finish(mut self) {
        (self.sink)(self.text.as_bytes());
    }
}

/// Formats a text as a JSON string, with its quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        let (mut whole, mut count) = (String::new(), 0);
        let mut pieces = Pieces::new(|piece: &[u8]| {
            whole += std::str::from_utf8(piece).unwrap();
            count += 1;
        });
        (0..100_000).for_each(|number| pieces.put(format_args!("{number}\n")));
        pieces.finish();
        assert!(count > 5);
        assert_eq!(whole, (0..100_000).map(|number| format!("{number}\n")).collect::<String>());
    }
}
