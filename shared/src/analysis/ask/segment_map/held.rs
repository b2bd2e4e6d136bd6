//! Finds segments that a little memory keeps from going back to CUDA.

use super::at::{MapBlock, SegmentMap};
use crate::analysis::track::allocations::AllocationId;
use std::cmp::Reverse;

/// Largest part of a held segment that is in use, in percent: 1/4, so that most of the segment is free.
const MOST_PERCENT: u64 = 25;

/// Segment that cannot go back to CUDA although at least 3/4 of it is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Position of the segment in [`SegmentMap::segments`].
    pub segment: usize,
    /// Bytes of its blocks that are not free.
    pub used_bytes: u64,
    /// Bytes that are free but cannot be given back.
    pub free_bytes: u64,
    /// Allocations that hold the segment, the one with the largest block first.
    pub holders: Vec<AllocationId>,
}

/// Returns the segments of which at most 1/4 is in use, those with the most free bytes first.
///
/// Expandable segments are not among them, because they give back whole pages, wherever their blocks lie.
pub fn held_segments(map: &SegmentMap) -> Vec<Held> {
    let is_held = |used_bytes: u64, size_bytes: u64| {
        used_bytes > 0 && u128::from(used_bytes) * 100 <= u128::from(size_bytes) * u128::from(MOST_PERCENT)
    };
    let mut held = Vec::new();
    for (position, segment) in map.segments.iter().enumerate() {
        if segment.at.is_expandable || !is_held(segment.used_bytes, segment.at.size_bytes) {
            continue;
        }
        let mut blocks: Vec<&MapBlock> = map.blocks_of(segment).iter().filter(|block| !block.is_free()).collect();
        blocks.sort_by_key(|block| Reverse(block.size_bytes));
        held.push(Held {
            segment: position,
            used_bytes: segment.used_bytes,
            free_bytes: segment.free_bytes(),
            holders: blocks.iter().filter_map(|block| block.allocation).collect(),
        });
    }
    held.sort_by_key(|held| Reverse(held.free_bytes));
    held
}
