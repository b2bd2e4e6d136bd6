//! Stores each distinct call stack, frame and list of lines of forward stacks once, and which frames are the user's own
//! code.

use crate::base::stack_label::FrameKind;
use crate::base::{OwnCode, StringId, StringTable, handle};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

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

/// Distinct lists of items in one buffer, numbered by first appearance.
#[derive(Clone, Debug)]
struct Lists<T> {
    items: Vec<T>,
    /// End of list `i` in `items`, as `ends[i]`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T: Copy + PartialEq> Lists<T> {
    /// Creates a table with this number of empty lists, which are not indexed.
    fn new(empty: usize) -> Self {
        Self { items: Vec::new(), ends: vec![0; empty], index: HashTable::new(), hasher: Default::default() }
    }

    /// Returns the number of a list that is not empty, which is added if it is new.
    fn intern(&mut self, list: &[T], hash: impl Fn(&DefaultHashBuilder, &[T]) -> u64) -> u32 {
        let Self { items, ends, index, hasher } = self;
        let hash_of_list = hash(hasher, list);
        if let Some(&id) = index.find(hash_of_list, |&id| slice(items, ends, id as usize) == list) {
            return id;
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 lists");
        items.extend_from_slice(list);
        ends.push(items.len());
        index.insert_unique(hash_of_list, id, |&id| hash(hasher, slice(items, ends, id as usize)));
        id
    }

    fn get(&self, index: usize) -> &[T] {
        slice(&self.items, &self.ends, index)
    }

    /// Panics unless all lists but the empty ones are indexed, and all items pass a test.
    fn check(&self, empty: usize, is_known: impl Fn(&T) -> bool) {
        let Self { items, ends, index, hasher: _ } = self;
        assert_eq!(index.len() + empty, ends.len(), "every list is indexed");
        assert!(ends.is_sorted() && ends.last() == Some(&items.len()), "ends of lists");
        assert!(items.iter().all(is_known), "handle in a list");
    }
}

fn slice<'a, T>(all: &'a [T], ends: &[usize], index: usize) -> &'a [T] {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &all[start..ends[index]]
}

/// All distinct stacks of a trace, each with its innermost frame first.
#[derive(Clone, Debug)]
pub struct StackTable(Lists<FrameId>);

impl Default for StackTable {
    fn default() -> Self {
        // Rows 0 and 1 are NONE and EMPTY.
        Self(Lists::new(2))
    }
}

impl StackTable {
    /// Returns the handle of a stack, which is added if it is new; [`StackId::EMPTY`] for a stack without frames.
    pub fn intern(&mut self, stack: &[FrameId]) -> StackId {
        if stack.is_empty() { StackId::EMPTY } else { StackId(self.0.intern(stack, hash)) }
    }

    /// Returns the frames of a stack, innermost first; none for [`StackId::NONE`] and [`StackId::EMPTY`].
    pub fn frames(&self, id: StackId) -> &[FrameId] {
        self.0.get(id.index())
    }

    /// Returns the number of rows, including [`StackId::NONE`] and [`StackId::EMPTY`].
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Returns true if no stack has frames.
    pub fn is_empty(&self) -> bool {
        self.len() == 2
    }

    /// Iterates over the handles of all stacks with frames, in order of first appearance.
    pub fn ids(&self) -> impl Iterator<Item = StackId> {
        (2..self.len() as u32).map(StackId)
    }

    pub(super) fn check(&self, frame_count: usize) {
        self.0.check(2, |frame| frame.index() < frame_count);
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

handle! {
    /// Handle to a list of the [`LineTable`] that issued it.
    pub struct LinesId of "lists of lines"
}

impl LinesId {
    /// Empty list, which is present in every table.
    pub const EMPTY: Self = Self(0);
}

/// All distinct lists of lines of a trace.
///
/// A list holds string handles instead of text, because forward stacks share most of their lines.
#[derive(Clone, Debug)]
pub struct LineTable(Lists<StringId>);

impl Default for LineTable {
    fn default() -> Self {
        Self(Lists::new(1))
    }
}

impl LineTable {
    pub fn intern(&mut self, list: &[StringId]) -> LinesId {
        if list.is_empty() {
            LinesId::EMPTY
        } else {
            LinesId(self.0.intern(list, |hasher, list| hasher.hash_one(list)))
        }
    }

    pub fn get(&self, id: LinesId) -> &[StringId] {
        self.0.get(id.index())
    }

    pub(super) fn check(&self, string_count: usize) {
        self.0.check(1, |line| line.index() < string_count);
    }

    pub(super) fn has(&self, id: LinesId) -> bool {
        id.index() < self.0.ends.len()
    }
}

/// FX node that `augment_with_fx_traces` (torch 2.10 on) adds to a frame of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FxNode {
    /// Kind of the node, such as `call_function`.
    pub op: StringId,
    pub name: StringId,
    /// Function or module that the node calls.
    pub target: StringId,
    /// Source lines that the node came from.
    pub original_trace: StringId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub name: StringId,
    /// File, or library for symbols of `dladdr`.
    pub filename: StringId,
    /// Line number, or byte offset in the library, up to 2^64 - 1.
    pub line: u64,
    /// FX node that the frame was generated from.
    pub fx: Option<FxNode>,
}

handle! {
    /// Handle to a frame of the [`FrameTable`] that issued it.
    pub struct FrameId of "frames"
}

#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    rows: Vec<Frame>,
    index: HashMap<Frame, FrameId>,
}

impl FrameTable {
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let next = FrameId::from_index(self.rows.len());
        *self.index.entry(frame).or_insert_with(|| {
            self.rows.push(frame);
            next
        })
    }

    pub fn get(&self, id: FrameId) -> &Frame {
        &self.rows[id.index()]
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.rows.iter()
    }
}

/// Rule for the user's own code, and what it says about each frame.
#[derive(Debug, Default)]
pub struct OwnFrames {
    rule: OwnCode,
    /// By frame; determined once, because a stack has dozens of frames and tables have thousands of stacks.
    kinds: OnceLock<Vec<FrameKind>>,
}

impl Clone for OwnFrames {
    /// Copies the rule alone, because the frames of a copy may be changed.
    fn clone(&self) -> Self {
        Self::new(self.rule.clone())
    }
}

impl OwnFrames {
    pub(super) fn new(rule: OwnCode) -> Self {
        Self { rule, kinds: OnceLock::new() }
    }

    pub(super) fn rule(&self) -> &OwnCode {
        &self.rule
    }

    /// Returns the kinds of all frames; frames that are added later are not among them.
    pub(super) fn kinds(&self, frames: &FrameTable, strings: &StringTable) -> &[FrameKind] {
        self.kinds.get_or_init(|| frames.iter().map(|frame| self.kind_of(frame, strings)).collect())
    }

    pub(super) fn kind_of(&self, frame: &Frame, strings: &StringTable) -> FrameKind {
        FrameKind::of(strings.get(frame.name), strings.get(frame.filename), &self.rule)
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
