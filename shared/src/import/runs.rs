//! Stores lists of rows as ranges of the tables that hold them.

use std::ops::Range;

/// Row numbers in the order of a list; a list without other rows in between is a single range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<Range<u32>>);

impl Runs {
    pub(super) fn push(&mut self, row: u32) {
        match self.0.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => self.0.push(row..row + 1),
        }
    }

    pub(super) fn ranges(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Returns the number of rows, in time linear in the number of ranges.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join() {
        let mut runs = Runs::default();
        [4, 5, 6, 2, 3, 3].into_iter().for_each(|row| runs.push(row));
        assert_eq!(runs.ranges(), [4..7, 2..4, 3..4]);
        assert!(runs.rows().eq([4, 5, 6, 2, 3, 3]));
    }
}
