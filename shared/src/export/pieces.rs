//! Text that goes out in pieces: documents of millions of rows are never held as a whole.

use std::fmt::{Arguments, Write as _};

/// A piece is handed on when it is about as long as this.
const PIECE_BYTES: usize = 1 << 16;

/// Collects text and hands it on in pieces.
pub(super) struct Pieces<S> {
    text: String,
    sink: S,
}

impl<S: FnMut(&[u8])> Pieces<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { text: String::with_capacity(PIECE_BYTES * 2), sink }
    }

    /// Adds a text, as `put(format_args!(…))`.
    pub(super) fn put(&mut self, text: Arguments<'_>) {
        // A string takes everything.
        let _ = self.text.write_fmt(text);
        if self.text.len() >= PIECE_BYTES {
            (self.sink)(self.text.as_bytes());
            self.text.clear();
        }
    }

    /// Hands the rest on.
    pub(super) fn finish(mut self) {
        (self.sink)(self.text.as_bytes());
    }
}

/// A text as JSON has it, with its quotes.
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
