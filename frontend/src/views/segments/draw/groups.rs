//! Segments grouped by the requests that may use them.

use crate::ask::{BlockState, SegmentsData};
use std::ops::Range;

/// Segments that serve the same requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Id of the memory pool, `(0, 0)` for the default pool.
    pub pool: (u64, u64),
    /// Raw stream handle.
    pub stream: u64,
    /// True if the segments serve requests of up to 1 MiB.
    pub is_small: bool,
    /// Positions of the segments, by address.
    pub segments: Vec<u32>,
    pub reserved_bytes: u64,
    /// Bytes of the blocks that are not free.
    pub used_bytes: u64,
    /// Size of the largest free block.
    pub largest_free_bytes: u64,
}

/// Groups the segments of a moment, and sorts the groups by reserved bytes, largest first.
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

/// Returns the positions of a segment's blocks.
pub fn blocks_of(data: &SegmentsData, segment: u32) -> Range<usize> {
    let end = |segment: u32| data.segments[segment as usize].blocks_end as usize;
    segment.checked_sub(1).map_or(0, end)..end(segment)
}
