//! Stores each distinct stack frame once, and remembers which frames are the user's own code.

use crate::base::stack_label::FrameKind;
use crate::base::{OwnCode, StringId, StringTable, handle};
use hashbrown::HashMap;
use std::sync::OnceLock;

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
    /// Function name.
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
    /// Returns the handle of `frame`, which is added if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let next = FrameId::from_index(self.rows.len());
        *self.index.entry(frame).or_insert_with(|| {
            self.rows.push(frame);
            next
        })
    }

    /// Returns the frame behind a handle of this table.
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.rows[id.index()]
    }

    /// Returns the number of distinct frames.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Iterates over all frames in order of first appearance.
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
