//! What each pool could hand out without asking CUDA for more.

use super::at::SegmentMap;
use crate::trace::{PoolId, SegmentType};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The segments that one request may use: those of its pool, its stream and its size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The pool; `(0, 0)` is the default one, also where the file names none.
    pub pool: PoolId,
    /// The raw stream handle.
    pub stream: u64,
    /// Small for requests of up to 1 MiB, large for all others.
    pub segment_type: SegmentType,
    /// The number of segments.
    pub segments: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Bytes of free blocks.
    pub free_bytes: u64,
    /// The longest free block: the largest that can be given without `cudaMalloc`.
    pub largest_free_bytes: u64,
}

/// The rooms at a moment, the largest first.
pub fn rooms(map: &SegmentMap) -> Vec<Room> {
    let mut rooms: BTreeMap<(PoolId, u64, bool), Room> = BTreeMap::new();
    for segment in &map.segments {
        let (pool, stream) = (segment.at.pool.unwrap_or_default(), segment.at.stream);
        let segment_type = segment.at.segment_type;
        let key = (pool, stream, segment_type == SegmentType::Small);
        let room = rooms.entry(key).or_insert(Room {
            pool,
            stream,
            segment_type,
            segments: 0,
            reserved_bytes: 0,
            free_bytes: 0,
            largest_free_bytes: 0,
        });
        room.segments += 1;
        room.reserved_bytes += segment.at.size_bytes;
        room.free_bytes += segment.free_bytes();
        room.largest_free_bytes = room.largest_free_bytes.max(segment.largest_free_bytes);
    }
    let mut rooms: Vec<_> = rooms.into_values().collect();
    rooms.sort_by_key(|room| Reverse(room.reserved_bytes));
    rooms
}
