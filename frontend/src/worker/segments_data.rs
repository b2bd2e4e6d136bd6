//! The segments of a moment as they travel from the worker to the page.

use super::protocol::AllocationKey;
use serde::{Deserialize, Serialize};
use shared::analysis::Fragmentation;
use shared::trace::BlockState;

/// A moment by what is special about it, or by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instant {
    /// The first moment with the most reserved bytes.
    ReservedPeak,
    /// The first moment with the most live bytes.
    LivePeak,
    /// After the last event.
    End,
    /// This moment, or the last one if it is later.
    At(u32),
}

/// The segments of a device at a moment, and what their bytes are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentsData {
    /// The moment.
    pub moment: u32,
    /// The moment after the last segment event before this one.
    pub previous: Option<u32>,
    /// The moment after the next segment event.
    pub next: Option<u32>,
    /// What the reserved bytes are.
    pub parts: Fragmentation,
    /// The segments, by address.
    pub segments: Vec<SegmentRow>,
    /// The blocks of all segments, segment after segment.
    pub blocks: Vec<BlockRow>,
    /// The looks of blocks that are not free.
    pub looks: Vec<Look>,
    /// Segments that a little memory keeps from going back, those with the most free bytes first.
    pub held: Vec<HeldRow>,
    /// How many of those are left out.
    pub other_held: u64,
}

/// One segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRow {
    /// The first address.
    pub addr: u64,
    /// The length.
    pub size_bytes: u64,
    /// The raw stream handle.
    pub stream: u64,
    /// The pool, `(0, 0)` for the default one.
    pub pool: (u64, u64),
    /// Whether it serves requests of up to 1 MiB.
    pub is_small: bool,
    /// Where the expandable segment begins that it is a mapped range of; its own address for any other.
    pub home: u64,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
    /// One past the position of its last block.
    pub blocks_end: u32,
}

/// One block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRow {
    /// The length.
    pub size_bytes: u64,
    /// What was asked for; 0 for a free block.
    pub requested_bytes: u64,
    /// What it is.
    pub kind: BlockState,
    /// Its position in [`SegmentsData::looks`], unless it is free.
    pub look: u32,
    /// Whose it is, unless it is free.
    pub owner: Option<AllocationKey>,
}

/// What blocks of one stack have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// A number to choose a hue by, as in the timeline.
    pub color: u32,
    /// What the stack is about; empty where none was recorded.
    pub title: String,
}

/// A segment that a little memory keeps from going back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRow {
    /// Its position among the segments.
    pub segment: u32,
    /// How many blocks hold it.
    pub blocks: u64,
    /// The position of the largest of those among all blocks.
    pub largest: u32,
}
