//! Stores each distinct list of lines once.

use crate::base::StringId;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Handle to a list of the [`LineTable`] that issued it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinesId(u32);

impl LinesId {
    /// Empty list, which is present in every table.
    pub const EMPTY: Self = Self(0);
}

/// All distinct lists of lines of a trace.
///
/// A list holds string handles instead of text, because forward stacks share most of their lines.
#[derive(Clone, Debug)]
pub struct LineTable {
    lines: Vec<StringId>,
    /// End of list `i` in `lines`, as `ends[i]`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for LineTable {
    fn default() -> Self {
        let mut table = Self { lines: Vec::new(), ends: Vec::new(), index: HashTable::new(), hasher: <_>::default() };
        table.intern(&[]);
        table
    }
}

impl LineTable {
    /// Returns the handle of a list, which is added if it is new.
    ///
    /// # Panics
    /// Panics if the table already holds 2^32 lists.
    pub fn intern(&mut self, list: &[StringId]) -> LinesId {
        let Self { lines, ends, index, hasher } = self;
        let hash = hasher.hash_one(list);
        if let Some(&id) = index.find(hash, |&id| slice(lines, ends, id) == list) {
            return LinesId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 lists of lines");
        lines.extend_from_slice(list);
        ends.push(lines.len());
        index.insert_unique(hash, id, |&id| hasher.hash_one(slice(lines, ends, id)));
        LinesId(id)
    }

    /// Returns the lines of a list, none for [`LinesId::EMPTY`].
    ///
    /// # Panics
    /// Panics if the handle comes from a larger table.
    pub fn get(&self, id: LinesId) -> &[StringId] {
        slice(&self.lines, &self.ends, id.0)
    }

    pub(super) fn check(&self, string_count: usize) {
        let Self { lines, ends, index, hasher: _ } = self;
        assert_eq!(index.len(), ends.len(), "every list of lines is indexed");
        assert!(ends.is_sorted() && ends.last() == Some(&lines.len()), "ends of lists of lines");
        assert!(lines.iter().all(|line| line.index() < string_count), "string handle of a line");
    }

    pub(super) fn has(&self, id: LinesId) -> bool {
        (id.0 as usize) < self.ends.len()
    }
}

fn slice<'a>(lines: &'a [StringId], ends: &[usize], index: u32) -> &'a [StringId] {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &lines[start..ends[index]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_kept_once() {
        let line = StringId::from_index;
        let mut table = LineTable::default();
        let both = table.intern(&[line(4), line(2)]);
        let one = table.intern(&[line(4)]);
        assert_ne!(both, one);
        assert_eq!(table.intern(&[line(4), line(2)]), both);
        assert_eq!(table.get(both), [line(4), line(2)]);
        assert_eq!(table.get(LinesId::EMPTY), []);
        table.check(5);
    }
}
