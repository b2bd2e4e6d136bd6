//! Segments by the requests that may use them.

use crate::worker::{BlockState, SegmentsData};
use std::ops::Range;

/// Segments that the same requests may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The pool, `(0, 0)` for the default one.
    pub pool: (u64, u64),
    /// The raw stream handle.
    pub stream: u64,
    /// Whether they serve requests of up to 1 MiB.
    pub is_small: bool,
    /// Their positions, by address.
    pub segments: Vec<u32>,
    /// Their bytes.
    pub reserved_bytes: u64,
    /// Bytes of their blocks that are not free.
    pub used_bytes: u64,
    /// Their longest free block.
    pub largest_free_bytes: u64,
}

/// The groups of a moment, those with most bytes first.
pub fn groups(data: &SegmentsData) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (position, segment) in data.segments.iter().enumerate() {
        let key = (segment.pool, segment.stream, segment.is_small);
        let index = groups.iter().position(|group| (group.pool, group.stream, group.is_small) == key);
        let index = index.unwrap_or_else(|| {
            groups.push(Group {
                pool: segment.pool,
                stream: segment.stream,
                is_small: segment.is_small,
                segments: Vec::new(),
                reserved_bytes: 0,
                used_bytes: 0,
                largest_free_bytes: 0,
            });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.segments.push(position as u32);
        group.reserved_bytes += segment.size_bytes;
        group.used_bytes += segment.used_bytes;
        let free =
            data.blocks[blocks_of(data, position as u32)].iter().filter(|block| block.kind == BlockState::Inactive);
        group.largest_free_bytes = free.map(|block| block.size_bytes).fold(group.largest_free_bytes, u64::max);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.reserved_bytes));
    groups
}

/// The positions of a segment's blocks.
pub fn blocks_of(data: &SegmentsData, segment: u32) -> Range<usize> {
    let end = |segment: u32| data.segments[segment as usize].blocks_end as usize;
    segment.checked_sub(1).map_or(0, end)..end(segment)
}
