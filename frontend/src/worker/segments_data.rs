//! The segments of a moment as they travel from the worker to the page.

use super::protocol::AllocationKey;
use serde::{Deserialize, Serialize};

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
    pub parts: ReservedParts,
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

/// The reserved bytes taken apart; it is `shared::analysis::Fragmentation` as it travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservedParts {
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Requested bytes of allocations.
    pub live_bytes: u64,
    /// How many of those are freed, but may still be used by another stream.
    pub pending_bytes: u64,
    /// Rounded minus requested bytes.
    pub rounding_bytes: u64,
    /// Remainders that are too short to be split off.
    pub unsplit_bytes: u64,
    /// Free bytes in segments in which something is alive.
    pub free_in_used_bytes: u64,
    /// Bytes of segments in which nothing is alive.
    pub free_segment_bytes: u64,
    /// How many of the free bytes are in private pools.
    pub private_free_bytes: u64,
    /// What emptying the cache would give back.
    pub releasable_bytes: u64,
    /// The longest free block.
    pub largest_free_bytes: u64,
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

/// What a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    /// In use.
    Used,
    /// Freed, and maybe still used by another stream.
    Pending,
    /// Free.
    #[default]
    Free,
}

/// One block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRow {
    /// The length.
    pub size_bytes: u64,
    /// What was asked for; 0 for a free block.
    pub requested_bytes: u64,
    /// What it is.
    pub kind: BlockKind,
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
