//! Lists of lines kept once.

use crate::base::StringId;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A handle to a list of the [`LineTable`] that minted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinesId(u32);

impl LinesId {
    /// The list without lines, present in every table.
    pub const EMPTY: Self = Self(0);
}

/// All distinct lists of lines of a trace.
///
/// Forward stacks share most of their lines, so that a list is handles to texts and not a text of its own.
#[derive(Clone, Debug)]
pub struct LineTable {
    lines: Vec<StringId>,
    /// `ends[i]` is where list `i` stops in `lines`.
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
    /// The handle of a list, which is added if it is new.
    ///
    /// # Panics
    /// If the table would hold 2^32 lists.
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

    /// The lines of a list, none for [`LinesId::EMPTY`].
    ///
    /// # Panics
    /// If the handle was minted by a larger table.
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
