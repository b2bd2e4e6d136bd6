//! Long loops in pieces.
//!
//! A browser first compiles WebAssembly in a hurry and then once more for speed, but a call that runs goes on in the
//! code that it began in: a loop over all events of a trace would never see the fast one.
//! So such loops call a function, which must not be inlined, for each piece.

use std::ops::Range;

/// Short enough that a loop of a million rows soon runs the fast code, long enough that the calls are for nothing.
const PIECE_ROWS: usize = 1 << 12;

/// The ranges of neighbouring rows that `0..rows` falls into.
///
/// ```
/// # use shared::base::pieces;
/// assert!(pieces(10_000).eq([0..4096, 4096..8192, 8192..10_000]));
/// ```
pub fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(PIECE_ROWS).map(move |start| start..rows.min(start + PIECE_ROWS))
}
