//! Splits long loops into short pieces.
//!
//! A browser compiles WebAssembly quickly first and once more for speed, but a running call stays in the code it was
//! started in: a loop over all events of a trace would never reach the fast code.
//! Such loops therefore call a function, which must not be inlined, for each piece.

use std::ops::Range;

/// Short enough that a loop of a million rows soon runs the fast code, long enough to make calls cheap.
const PIECE_ROWS: usize = 1 << 12;

/// Splits `0..rows` into consecutive ranges.
///
/// ```
/// # use foundation::base::pieces;
/// assert!(pieces(10_000).eq([0..4096, 4096..8192, 8192..10_000]));
/// ```
pub fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(PIECE_ROWS).map(move |start| start..rows.min(start + PIECE_ROWS))
}
