//! Computes what each pool could hand out without asking CUDA for more.

use super::at::{MapSegment, SegmentMap};
use crate::analysis::track::segments_at::SegmentAt;
use crate::base::format;
use crate::trace::{PoolId, SegmentType};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Segments that one request may use: those of its pool, its stream and its size class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Pool; `(0, 0)` is the default one, also if the snapshot names none.
    pub pool: PoolId,
    /// Raw handle of the stream.
    pub stream: u64,
    /// Small for requests of up to 1 MiB, large for all others.
    pub segment_type: SegmentType,
    /// Number of segments.
    pub segments: u64,
    pub reserved_bytes: u64,
    pub free_bytes: u64,
    /// Size of the longest free block: the largest that can be handed out without `cudaMalloc`.
    pub largest_free_bytes: u64,
}

impl Room {
    /// Returns the name and the figures that are shown above the segments.
    pub fn title(&self) -> String {
        format!(
            "{} · {} in {} · {} free, longest {}",
            self.name(),
            format::bytes(self.reserved_bytes),
            format::counted(self.segments, "segment"),
            format::bytes(self.free_bytes),
            format::bytes(self.largest_free_bytes),
        )
    }

    /// Returns true if a segment belongs to the room.
    pub fn has(&self, segment: &MapSegment) -> bool {
        let SegmentAt { pool, stream, segment_type, .. } = segment.at;
        (self.pool, self.stream, self.segment_type) == (pool.unwrap_or_default(), stream, segment_type)
    }

    fn name(&self) -> String {
        let size = if self.segment_type == SegmentType::Small { "Small blocks" } else { "Large blocks" };
        let pool = match self.pool {
            PoolId(0, 0) => size.to_owned(),
            PoolId(0, handle) => format!("{size}, private pool {handle}"),
            PoolId(capture, handle) => format!("{size}, private pool {capture}, {handle}"),
        };
        match self.stream {
            0 => pool,
            stream => format!("{pool}, stream {}", format::address(stream)),
        }
    }
}

/// Returns the rooms at a moment, those with the most reserved bytes first.
pub fn rooms(map: &SegmentMap) -> Vec<Room> {
    let mut rooms: BTreeMap<(PoolId, u64, bool), Room> = BTreeMap::new();
    for segment in &map.segments {
        let (pool, stream) = (segment.at.pool.unwrap_or_default(), segment.at.stream);
        let segment_type = segment.at.segment_type;
        let key = (pool, stream, segment_type == SegmentType::Small);
        let room = rooms.entry(key).or_insert(Room { pool, stream, segment_type, ..Room::default() });
        room.segments += 1;
        room.reserved_bytes += segment.at.size_bytes;
        room.free_bytes += segment.free_bytes();
        room.largest_free_bytes = room.largest_free_bytes.max(segment.largest_free_bytes);
    }
    let mut rooms: Vec<_> = rooms.into_values().collect();
    rooms.sort_by_key(|room| Reverse(room.reserved_bytes));
    rooms
}
