//! Positions of the segments of a pool, and of the blocks of a segment.

use crate::ask::SegmentsData;
use std::ops::Range;

/// Returns the positions of each pool's segments by address, in the order of the pools.
pub(super) fn groups(data: &SegmentsData) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new(); data.reserved.pools.len()];
    for (row, position) in data.segments.iter().zip(0..) {
        groups[row.room as usize].push(position);
    }
    groups
}

/// Returns the positions of a segment's blocks.
pub fn blocks_of(data: &SegmentsData, segment: u32) -> Range<usize> {
    let end = |segment: u32| data.segments[segment as usize].blocks_end as usize;
    segment.checked_sub(1).map_or(0, end)..end(segment)
}

/// Returns the position of the block at an address of the segment that begins at `home`.
pub fn block_at_addr(data: &SegmentsData, home: u64, addr: u64) -> Option<usize> {
    let segment = data.segments.binary_search_by_key(&home, |row| row.segment.addr).ok()?;
    let mut end = home;
    blocks_of(data, segment as u32).find(|&block| {
        end = end.saturating_add(data.blocks[block].size_bytes);
        addr < end
    })
}
