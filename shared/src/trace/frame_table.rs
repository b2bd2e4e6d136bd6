//! Stack frames kept once.

use crate::base::StringId;
use hashbrown::HashMap;

/// What `augment_with_fx_traces` (torch 2.10 on) adds to a frame of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FxNode {
    /// The kind of the node, such as `call_function`.
    pub op: StringId,
    /// The node's name.
    pub name: StringId,
    /// What it calls.
    pub target: StringId,
    /// The source lines that it came from.
    pub original_trace: StringId,
}

/// One stack frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub name: StringId,
    /// The file, or the library for symbols of `dladdr`.
    pub filename: StringId,
    /// The line, or the byte offset in the library, up to 2^64 - 1.
    pub line: u64,
    /// The FX node behind it.
    pub fx: Option<FxNode>,
}

/// A handle to a frame of the [`FrameTable`] that minted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(u32);

impl FrameId {
    /// The position in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The handle with this position.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 frames"))
    }
}

/// All distinct frames of a trace.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    rows: Vec<Frame>,
    index: HashMap<Frame, FrameId>,
}

impl FrameTable {
    /// The handle of `frame`, which is added if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let next = FrameId::from_index(self.rows.len());
        *self.index.entry(frame).or_insert_with(|| {
            self.rows.push(frame);
            next
        })
    }

    /// The frame behind a handle of this table.
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.rows[id.index()]
    }

    /// The number of distinct frames.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All frames in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.rows.iter()
    }
}
