//! Defines the segments of a moment with their blocks, as the map draws them.

use serde::{Deserialize, Serialize};
use shared::analysis::AllocationKey;
use shared::report::{Reserved, Segment};
use shared::trace::BlockState;

/// Moment, either a distinguished one or any by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instant {
    /// First moment with the highest reserved bytes.
    #[default]
    ReservedPeak,
    /// First moment with the highest live bytes.
    LivePeak,
    /// Moment after the last event.
    End,
    /// Moment by number, or the last one if it is later.
    At(u32),
}

/// Segments of a device at a moment with their blocks, as the map draws them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentsData {
    pub moment: u32,
    /// Moment after the last segment event before this moment.
    pub previous: Option<u32>,
    /// Moment after the next segment event.
    pub next: Option<u32>,
    pub reserved: Reserved,
    /// Segments by address.
    pub segments: Vec<SegmentRow>,
    pub blocks: Vec<BlockRow>,
    /// Looks of blocks that are not free.
    pub looks: Vec<Look>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRow {
    pub segment: Segment,
    /// Position in the pools of [`SegmentsData::reserved`] of those that it belongs to.
    pub room: u32,
    /// Start of the expandable segment of which it is a mapped range; for others, its own address.
    pub home: u64,
    /// Position after its last block.
    pub blocks_end: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRow {
    pub size_bytes: u64,
    /// Requested bytes; 0 for a free block.
    pub requested_bytes: u64,
    pub kind: BlockState,
    /// Position in [`SegmentsData::looks`]; 0 for a free block.
    pub look: u32,
    /// Allocation in the block, `None` for a free block.
    pub owner: Option<AllocationKey>,
    /// True if a kind is selected and the allocation is not of it.
    pub is_other: bool,
}

/// Appearance shared by the blocks of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Number from which a hue is chosen, as in the timeline.
    pub color: u32,
    /// Title of the stack; empty if none was recorded.
    pub title: String,
}
