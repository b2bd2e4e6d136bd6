//! Decides which lines of a file stand in a listing, and which are folded.

use std::ops::Range;

/// Part of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Lines that are shown, from 1.
    Lines(Range<u64>),
    /// Lines that are folded, from 1.
    Folded(Range<u64>),
}

/// Divides the lines `1..=len` of a file: each hot line is shown with `context` lines on both sides.
///
/// A gap of one line is shown, because its fold takes as much room.
/// `hot` is in ascending order; lines beyond the end are left out.
pub fn excerpt(hot: &[u64], len: u64, context: u64) -> Vec<Piece> {
    let mut shown: Vec<Range<u64>> = Vec::new();
    for &line in hot.iter().filter(|&&line| (1..=len).contains(&line)) {
        let range = line.saturating_sub(context).max(1)..line.saturating_add(context).min(len) + 1;
        match shown.last_mut().filter(|last| range.start <= last.end + 1) {
            Some(last) => last.end = range.end,
            None => shown.push(range),
        }
    }
    let mut pieces = Vec::new();
    let mut next = 1;
    for Range { start, end } in shown {
        let start = if start == 2 { 1 } else { start };
        let end = if end == len { len + 1 } else { end };
        if next < start {
            pieces.push(Piece::Folded(next..start));
        }
        pieces.push(Piece::Lines(start..end));
        next = end;
    }
    if next <= len {
        pieces.push(Piece::Folded(next..len + 1));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the pieces with lines as `3-5` and folds as `(6-9)`.
    #[track_caller]
    fn check(hot: &[u64], len: u64, expected: &str) {
        let text = |piece: &Piece| match piece {
            Piece::Lines(lines) => format!("{}-{}", lines.start, lines.end - 1),
            Piece::Folded(lines) => format!("({}-{})", lines.start, lines.end - 1),
        };
        let pieces: Vec<String> = excerpt(hot, len, 2).iter().map(text).collect();
        assert_eq!(pieces.join(" "), expected);
    }

    #[test]
    fn lines_stand_with_those_around_them() {
        check(&[10], 20, "(1-7) 8-12 (13-20)");
        check(&[5, 6, 15], 20, "(1-2) 3-8 (9-12) 13-17 (18-20)");
        check(&[1], 2, "1-2");
        check(&[], 3, "(1-3)");
        check(&[], 0, "");
    }

    #[test]
    fn a_single_line_is_not_folded() {
        check(&[4], 7, "1-7");
        check(&[5, 11], 14, "(1-2) 3-14");
    }

    #[test]
    fn lines_that_are_not_there_are_left_out() {
        check(&[0, 3, 99, u64::MAX], 20, "1-5 (6-20)");
    }

    #[test]
    fn every_line_is_in_one_piece() {
        for hot in [&[1, 4, 9][..], &[3], &[2, 7, 8, 30], &[30, 31]] {
            for len in 0..33 {
                let pieces = excerpt(hot, len, 2);
                let lines = pieces.into_iter().flat_map(|piece| match piece {
                    Piece::Lines(lines) | Piece::Folded(lines) => lines,
                });
                assert_eq!(lines.collect::<Vec<_>>(), (1..=len).collect::<Vec<_>>());
            }
        }
    }
}
