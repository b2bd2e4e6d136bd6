//! Defines the question for the segments of a moment, and its answer.

use super::timeline::AllocationKey;
use serde::{Deserialize, Serialize};
use shared::analysis::Fragmentation;
use shared::trace::BlockState;

/// Moment, either a distinguished one or any by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instant {
    /// First moment with the highest reserved bytes.
    ReservedPeak,
    /// First moment with the highest live bytes.
    LivePeak,
    /// Moment after the last event.
    End,
    /// Moment by number, or the last one if it is later.
    At(u32),
}

/// Asks for the segments of a moment with their blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSegments {
    pub device: u32,
    pub instant: Instant,
}

/// Segments of a device at a moment, and a breakdown of their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentsData {
    pub moment: u32,
    /// Moment after the last segment event before this moment.
    pub previous: Option<u32>,
    /// Moment after the next segment event.
    pub next: Option<u32>,
    /// Breakdown of the reserved bytes.
    pub parts: Fragmentation,
    /// Segments by address.
    pub segments: Vec<SegmentRow>,
    /// Blocks of all segments, segment by segment.
    pub blocks: Vec<BlockRow>,
    /// Looks of blocks that are not free.
    pub looks: Vec<Look>,
    /// Segments of which at most 1/4 is in use and that cannot return to CUDA, those with the most free bytes first.
    pub held: Vec<HeldRow>,
    /// Number of such segments that are left out.
    pub other_held: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRow {
    /// First address.
    pub addr: u64,
    pub size_bytes: u64,
    /// Raw stream handle.
    pub stream: u64,
    /// Pool, `(0, 0)` for the default one.
    pub pool: (u64, u64),
    /// True if it serves requests of up to 1 MiB.
    pub is_small: bool,
    /// Start of the expandable segment of which it is a mapped range; for others, its own address.
    pub home: u64,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
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
}

/// Appearance shared by the blocks of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Number from which a hue is chosen, as in the timeline.
    pub color: u32,
    /// Title of the stack; empty if none was recorded.
    pub title: String,
}

/// Segment that cannot return to CUDA because a few blocks are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRow {
    /// Position of the segment.
    pub segment: u32,
    /// Number of blocks in use.
    pub blocks: u64,
    /// Position of the largest of those blocks among all blocks.
    pub largest: u32,
}
