//! Measures the agreement of two sequences of events.

use shared::trace::{Action, Trace};

/// Compared part of an event: action and size. Addresses and times differ from run to run.
pub type Step = (Action, u64);

/// Agreement of two sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Number of events of both.
    pub events: (usize, usize),
    /// Index of the first difference and the events there; `None` if the sequences are equal.
    pub first_difference: Option<(usize, Option<Step>, Option<Step>)>,
    /// Length of the longest common subsequence; `None` if more than [`MOST_EDITS`] edits separate the sequences.
    pub equal: Option<usize>,
}

/// Maximum number of insertions and deletions searched, because the time grows with the square of their number.
pub const MOST_EDITS: usize = 20_000;

impl Agreement {
    pub fn of(left: &[Step], right: &[Step]) -> Self {
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        let is_equal = same == left.len() && same == right.len();
        let first_difference = (!is_equal).then(|| (same, left.get(same).copied(), right.get(same).copied()));
        let edits = edit_distance(&left[same..], &right[same..], MOST_EDITS);
        let equal = edits.map(|edits| (left.len() + right.len() - edits) / 2);
        Self { events: (left.len(), right.len()), first_difference, equal }
    }

    /// Returns the fraction of events in both sequences, from 0 to 1; 1 for two empty sequences.
    pub fn share(&self) -> Option<f64> {
        let (left, right) = self.events;
        let all = (left + right) as f64;
        self.equal.map(|equal| if all == 0.0 { 1.0 } else { 2.0 * equal as f64 / all })
    }
}

/// Returns the events of one device in the form in which they are compared.
pub fn steps(trace: &Trace, device: i64) -> Vec<Step> {
    let events = trace.devices.iter().filter(|entry| entry.index == device).flat_map(|entry| entry.events.iter());
    events.map(|event| (event.action, event.size_bytes)).collect()
}

/// Returns the least number of insertions and deletions that turn `left` into `right`, if it is at most `most`.
///
/// This is Myers' greedy search. `reach[d]` is the furthest position in `left` on diagonal `d` (position in `left`
/// minus position in `right`) that the current number of edits can reach; each round allows one more edit. With `left`
/// = `a b c` and `right` = `a c`, round 0 gets past `a` on diagonal 0; round 1 deletes `b`, which leads to diagonal 1
/// and along it past `c` to the end of both.
///
/// The time is proportional to the length times the edits, the memory to `most`.
fn edit_distance<T: PartialEq>(left: &[T], right: &[T], most: usize) -> Option<usize> {
    let most = most.min(left.len() + right.len()) as isize;
    let (rows, columns) = (left.len() as isize, right.len() as isize);
    // Diagonals from -most - 1 to most + 1.
    let slot = |diagonal: isize| (diagonal + most + 1) as usize;
    let mut reach = vec![0_isize; 2 * most as usize + 3];
    for edits in 0..=most {
        for diagonal in (-edits..=edits).step_by(2) {
            let (after_insertion, after_deletion) = (reach[slot(diagonal + 1)], reach[slot(diagonal - 1)] + 1);
            let must_insert = diagonal == -edits;
            let must_delete = diagonal == edits && edits > 0;
            let mut row = match edits {
                0 => 0,
                _ if must_insert => after_insertion,
                _ if must_delete => after_deletion,
                _ => after_insertion.max(after_deletion),
            };
            let mut column = row - diagonal;
            while row < rows && column < columns && left[row as usize] == right[column as usize] {
                row += 1;
                column += 1;
            }
            reach[slot(diagonal)] = row;
            if row >= rows && column >= columns {
                return Some(edits as usize);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the edit distance from the table of all prefixes, which the search above avoids.
    fn naive(left: &[u8], right: &[u8]) -> usize {
        let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
        for i in 0..=left.len() {
            for j in 0..=right.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ if left[i - 1] == right[j - 1] => table[i - 1][j - 1],
                    _ => 1 + usize::min(table[i - 1][j], table[i][j - 1]),
                };
            }
        }
        table[left.len()][right.len()]
    }

    #[test]
    fn the_example() {
        assert_eq!(edit_distance(b"abc", b"ac", 9), Some(1));
    }

    #[test]
    fn the_search_finds_what_the_table_finds() {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..2000 {
            let mut text = || (0..random(12)).map(|_| random(3) as u8).collect::<Vec<_>>();
            let (left, right) = (text(), text());
            let edits = naive(&left, &right);
            assert_eq!(edit_distance(&left, &right, 99), Some(edits), "{left:?} {right:?}");
            assert_eq!(edit_distance(&left, &right, edits), Some(edits), "{left:?} {right:?}");
            if edits > 0 {
                assert_eq!(edit_distance(&left, &right, edits - 1), None, "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn agreement_says_where_and_how_far() {
        let alloc = |size| (Action::Alloc, size);
        let left = [alloc(1), alloc(2), alloc(3), alloc(4)];
        let same = Agreement::of(&left, &left);
        assert_eq!((same.first_difference, same.share()), (None, Some(1.0)));
        let right = [alloc(1), alloc(3), alloc(4)];
        let other = Agreement::of(&left, &right);
        assert_eq!(other.first_difference, Some((1, Some(alloc(2)), Some(alloc(3)))));
        assert_eq!(other.share(), Some(6.0 / 7.0));
        let cut = Agreement::of(&left, &left[..3]);
        assert_eq!(cut.first_difference, Some((3, Some(alloc(4)), None)));
        assert_eq!(Agreement::of(&[], &[]).share(), Some(1.0));
    }

    #[test]
    fn what_has_nothing_in_common_is_given_up() {
        let sizes = |start: u64| (start..start + 1000).collect::<Vec<_>>();
        assert_eq!(edit_distance(&sizes(0), &sizes(5000), 500), None);
        assert_eq!(edit_distance(&sizes(0), &sizes(500), 1000), Some(1000));
    }
}
