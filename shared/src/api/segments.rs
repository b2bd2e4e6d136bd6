//! The document of `snapscope segments --json`.

use crate::report::Fragmentation;
use serde::Serialize;

/// The segments of a device at one moment, and what their bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentsReport {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// What the reserved bytes are.
    pub bytes: Fragmentation,
    /// What each pool and stream could hand out without asking CUDA, those with the most memory first.
    pub pools: Vec<PoolRow>,
    /// Segments that at most a quarter of their bytes keeps from going back, those with the most free bytes first.
    pub held: Vec<HeldRow>,
    /// How many of those are left out.
    pub other_held: u64,
    /// The segments with the most free bytes.
    pub segments: Vec<SegmentRow>,
    /// How many segments are left out.
    pub other_segments: u64,
}

/// The segments that one request may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolRow {
    /// The pool, `[0, 0]` for the default one.
    pub pool: [u64; 2],
    /// The raw stream handle.
    pub stream: u64,
    /// `small` for requests of up to 1 MiB, `large` for all others.
    pub segment_type: &'static str,
    /// The number of segments.
    pub segments: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Bytes of free blocks.
    pub free_bytes: u64,
    /// The longest free block.
    pub largest_free_bytes: u64,
}

/// A segment that a little memory keeps from going back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldRow {
    /// The segment's first address.
    pub addr: u64,
    /// The segment's length.
    pub size_bytes: u64,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
    /// How many allocations hold it.
    pub allocations: u64,
    /// The largest ones of those.
    pub holders: Vec<HolderRow>,
}

/// An allocation that holds a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderRow {
    /// The first address.
    pub addr: u64,
    /// The requested size.
    pub size_bytes: u64,
    /// The event that allocated it, nothing if it is from before the trace.
    pub event: Option<u64>,
    /// What its stack is about, in a few words.
    pub title: String,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentRow {
    /// The first address.
    pub addr: u64,
    /// The length.
    pub size_bytes: u64,
    /// The raw stream handle.
    pub stream: u64,
    /// The pool, `[0, 0]` for the default one.
    pub pool: [u64; 2],
    /// `small` or `large`.
    pub segment_type: &'static str,
    /// Whether it is a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// Bytes of blocks that are not free.
    pub used_bytes: u64,
    /// The longest free block.
    pub largest_free_bytes: u64,
    /// The blocks that are not free.
    pub used_blocks: u64,
    /// What the stack of the largest one is about, in a few words; nothing in a free segment.
    pub title: Option<String>,
}
