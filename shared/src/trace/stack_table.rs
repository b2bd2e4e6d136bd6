//! Stores each distinct call stack once, and each distinct list of lines of forward stacks.

use super::FrameId;
use crate::base::{StringId, handle};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher, Hasher};

handle! {
    /// Handle to a stack of the [`StackTable`] that issued it.
    pub struct StackId of "stacks"
}

impl StackId {
    /// No recorded stack, at position 0: the record has no `frames` key.
    pub const NONE: Self = Self(0);
    /// Recorded stack without frames, at position 1.
    pub const EMPTY: Self = Self(1);

    /// Returns true if the stack has at least one frame.
    pub fn has_frames(self) -> bool {
        self > Self::EMPTY
    }
}

/// All distinct stacks of a trace in one buffer, each with its innermost frame first.
#[derive(Clone, Debug)]
pub struct StackTable {
    frames: Vec<FrameId>,
    /// End of stack `i` in `frames`, as `ends[i]`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for StackTable {
    fn default() -> Self {
        // Rows 0 and 1 are NONE and EMPTY.
        Self { frames: Vec::new(), ends: vec![0, 0], index: HashTable::new(), hasher: Default::default() }
    }
}

impl StackTable {
    /// Returns the handle of a stack, which is added if it is new; [`StackId::EMPTY`] for a stack without frames.
    pub fn intern(&mut self, stack: &[FrameId]) -> StackId {
        if stack.is_empty() {
            return StackId::EMPTY;
        }
        let Self { frames, ends, index, hasher } = self;
        let hash = hash(hasher, stack);
        if let Some(&id) = index.find(hash, |&id| slice(frames, ends, id as usize) == stack) {
            return StackId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 stacks");
        frames.extend_from_slice(stack);
        ends.push(frames.len());
        index.insert_unique(hash, id, |&id| self::hash(hasher, slice(frames, ends, id as usize)));
        StackId(id)
    }

    /// Returns the frames of a stack, innermost first; none for [`StackId::NONE`] and [`StackId::EMPTY`].
    pub fn frames(&self, id: StackId) -> &[FrameId] {
        slice(&self.frames, &self.ends, id.index())
    }

    /// Returns the number of rows, including [`StackId::NONE`] and [`StackId::EMPTY`].
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if no stack has frames.
    pub fn is_empty(&self) -> bool {
        self.ends.len() == 2
    }

    /// Iterates over the handles of all stacks with frames, in order of first appearance.
    pub fn ids(&self) -> impl Iterator<Item = StackId> {
        (2..self.ends.len() as u32).map(StackId)
    }

    pub(super) fn check(&self, frame_count: usize) {
        let Self { frames, ends, index, hasher: _ } = self;
        assert_eq!(index.len() + 2, ends.len(), "every stack is indexed");
        assert!(ends.is_sorted() && ends.last() == Some(&frames.len()), "stack ends");
        assert!(frames.iter().all(|frame| frame.index() < frame_count), "frame handle");
    }
}

/// Hashes a stack two frames at a time, because it runs for every recorded stack.
fn hash(hasher: &DefaultHashBuilder, stack: &[FrameId]) -> u64 {
    let mut hasher = hasher.build_hasher();
    let (pairs, rest) = stack.as_chunks::<2>();
    for [first, second] in pairs {
        hasher.write_u64((first.index() as u64) << 32 | second.index() as u64);
    }
    if let [last] = rest {
        hasher.write_u64(last.index() as u64 | u64::MAX << 32);
    }
    hasher.finish()
}

/// Returns the items of a list.
fn slice<'a, T>(all: &'a [T], ends: &[usize], index: usize) -> &'a [T] {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &all[start..ends[index]]
}

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
        if let Some(&id) = index.find(hash, |&id| slice(lines, ends, id as usize) == list) {
            return LinesId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 lists of lines");
        lines.extend_from_slice(list);
        ends.push(lines.len());
        index.insert_unique(hash, id, |&id| hasher.hash_one(slice(lines, ends, id as usize)));
        LinesId(id)
    }

    /// Returns the lines of a list, none for [`LinesId::EMPTY`].
    ///
    /// # Panics
    /// Panics if the handle comes from a larger table.
    pub fn get(&self, id: LinesId) -> &[StringId] {
        slice(&self.lines, &self.ends, id.0 as usize)
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
