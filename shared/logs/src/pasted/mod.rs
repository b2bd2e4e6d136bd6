//! Turns a text as people paste it into the lines that programs printed, before any source reads it.
//!
//! ```text
//! > [rank0]: RuntimeError: CUDA out of memory. Tried to allocate 20.00      quoted, and wrapped by a mail
//! > [rank0]: GiB (GPU 0; 79.15 GiB total capacity)
//! {"log":"Traceback (most recent call last):\n  File \"t.py\" …"}          several lines in a record of Docker
//! ```
//!
//! Invariant: a line that nobody has changed passes as it is, and each line waits for a bounded number of others.

mod bare;
mod wrapped;

#[cfg(test)]
mod tests;

use shared::base::Lines;
use wrapped::Wrapped;

/// Splitter of a text that arrives in chunks of any size.
#[derive(Debug, Default)]
pub(super) struct PastedLines {
    lines: Lines,
    wrapped: Wrapped,
}

impl PastedLines {
    /// Passes each line that ends in the bytes to `visit`.
    pub(super) fn push(&mut self, bytes: &[u8], visit: &mut impl FnMut(&str)) {
        let Self { lines, wrapped } = self;
        lines.push(bytes, |line| bare::each(line, &mut |line| wrapped.line(line, visit)));
    }

    /// Passes what is left after the last bytes to `visit`.
    pub(super) fn finish(self, visit: &mut impl FnMut(&str)) {
        let Self { lines, mut wrapped } = self;
        lines.finish(|line| bare::each(line, &mut |line| wrapped.line(line, visit)));
        wrapped.finish(visit);
    }
}
