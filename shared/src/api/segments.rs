//! Defines the document of `snapscope segments --json`.

use crate::report::Fragmentation;
use serde::Serialize;

/// Segments of a device at one moment, and the parts of their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentsReport {
    /// File as named on the command line.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    /// Event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// Parts of the reserved bytes.
    pub bytes: Fragmentation,
    /// Memory that each pool and stream can hand out without calling CUDA, those with the most memory first.
    pub pools: Vec<PoolRow>,
    /// Segments that cannot be released although at most a quarter is in use, those with the most free bytes first.
    pub held: Vec<HeldRow>,
    /// Number of held segments that are left out.
    pub other_held: u64,
    /// Segments with the most free bytes.
    pub segments: Vec<SegmentRow>,
    /// Number of segments that are left out.
    pub other_segments: u64,
}

/// Segments that one request may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolRow {
    /// Pool, `[0, 0]` for the default one.
    pub pool: [u64; 2],
    /// Raw stream handle.
    pub stream: u64,
    /// `small` for requests of up to 1 MiB, `large` for all others.
    pub segment_type: &'static str,
    pub segments: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    pub free_bytes: u64,
    /// Size of the longest free block.
    pub largest_free_bytes: u64,
}

/// Segment that a little memory in use keeps from being released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldRow {
    /// First address of the segment.
    pub addr: u64,
    /// Length of the segment.
    pub size_bytes: u64,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
    /// Number of allocations that hold it.
    pub allocations: u64,
    /// Largest of these allocations.
    pub holders: Vec<HolderRow>,
}

/// Allocation that holds a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderRow {
    /// First address.
    pub addr: u64,
    /// Requested size.
    pub size_bytes: u64,
    /// Event that allocated it, `null` if it is from before the trace.
    pub event: Option<u64>,
    /// Title of its stack.
    pub title: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentRow {
    /// First address.
    pub addr: u64,
    pub size_bytes: u64,
    /// Raw stream handle.
    pub stream: u64,
    /// Pool, `[0, 0]` for the default one.
    pub pool: [u64; 2],
    /// `small` or `large`.
    pub segment_type: &'static str,
    /// True for a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
    /// Size of the longest free block.
    pub largest_free_bytes: u64,
    /// Number of blocks that are not free.
    pub used_blocks: u64,
    /// Title of the stack of the largest of these blocks; `null` in a free segment.
    pub title: Option<String>,
}
