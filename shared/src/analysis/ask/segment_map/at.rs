//! Tiles the segments of one moment with their blocks, finds those that a little memory keeps from going back to CUDA,
//! and computes what each pool could hand out without asking CUDA for more.
//!
//! Idea: segments are wound back from the final ones, and live allocations are known by address and requested size.
//! A block is as long as its rounded request; in the large pool it keeps a rest that is too short to be split off.
//! The memory between blocks is free.
//!
//! ```text
//! alive       a at 0, 3 MiB      b at 3.5 MiB, 6 MiB + 100 B
//! segment     │ a 3 MiB │rest│ b 6 MiB + 512 B │  free, 10.5 MiB - 512 B  │        20 MiB, large pool
//! ```
//!
//! Blocks that exist at the end have the size that the snapshot records.
//!
//! Cost: linear in the segments and blocks of the moment, plus sorting the blocks by address.

use super::waits::Lasting;
use crate::allocator::Settings;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::segments_at::{SegmentAt, changes_of, segments_at};
use crate::base::{ShortSort, format};
use crate::trace::{BlockState, Device, PoolId, SegmentType, Trace};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapBlock {
    pub addr: u64,
    /// Size including rounding and rest.
    pub size_bytes: u64,
    /// Requested size; 0 for a free block.
    pub requested_bytes: u64,
    /// Bytes kept behind the rounded request, because they are too few to be split off.
    pub rest_bytes: u64,
    pub state: BlockState,
    /// Allocation that has the block; `None` for a free block.
    pub allocation: Option<AllocationId>,
}

impl MapBlock {
    pub fn is_free(&self) -> bool {
        self.state == BlockState::Inactive
    }

    /// Returns the bytes that rounding added to the request.
    pub fn rounding_bytes(&self) -> u64 {
        if self.is_free() { 0 } else { self.size_bytes - self.rest_bytes - self.requested_bytes }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSegment {
    pub at: SegmentAt,
    /// Start of the expandable segment that this mapped range belongs to; the own address of any other segment.
    pub home: u64,
    /// Positions of its blocks in [`SegmentMap::blocks`].
    pub blocks: Range<usize>,
    /// Bytes of blocks in use and of pending frees.
    pub used_bytes: u64,
    pub largest_free_bytes: u64,
}

impl MapSegment {
    pub fn free_bytes(&self) -> u64 {
        self.at.size_bytes.saturating_sub(self.used_bytes)
    }
}

/// All segments at a moment, sorted by address, with the blocks that tile them.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentMap {
    /// Moment of the map: 0 is before the first event, `n` is after event `n - 1`.
    pub moment: u32,
    /// Settings by which requests were rounded.
    pub settings: Settings,
    pub segments: Vec<MapSegment>,
    /// Blocks of all segments, segment after segment.
    pub blocks: Vec<MapBlock>,
}

/// Live allocation, before the room for its block is known.
struct Placed {
    addr: u64,
    id: AllocationId,
    requested_bytes: u64,
    size_bytes: u64,
    state: BlockState,
}

impl SegmentMap {
    /// Maps the segments of one moment; a [`SegmentHistory`](super::SegmentHistory) is cheaper for several moments.
    pub fn at(trace: &Trace, device: &Device, allocations: &Allocations, moment: u32) -> Self {
        let moment = moment.min(device.events.len() as u32);
        let lasting = Lasting::of(trace, device, allocations, &changes_of(device));
        let alive = allocations.alive_at(moment).map(|(id, _)| id);
        Self::of(&lasting, device, allocations, &segments_at(trace, device, moment), alive, moment)
    }

    pub(super) fn of(
        lasting: &Lasting,
        device: &Device,
        allocations: &Allocations,
        segments: &[SegmentAt],
        alive: impl Iterator<Item = AllocationId>,
        moment: u32,
    ) -> Self {
        let place = |id| {
            let allocation = allocations.get(id, device);
            let is_pending = lasting.waits.waits(id, moment);
            let rounded =
                || lasting.settings.block_bytes(allocation.size_bytes).saturating_add(lasting.rests.bytes(id));
            Placed {
                addr: allocation.addr,
                id,
                requested_bytes: allocation.size_bytes,
                size_bytes: lasting.known_bytes(&allocation, device).unwrap_or_else(rounded),
                state: if is_pending { BlockState::PendingFree } else { BlockState::Allocated },
            }
        };
        let mut placed: Vec<_> = alive.map(place).collect();
        // Of two allocations at one address the later one exists: the trace lacks the free of the earlier one.
        placed.short_sort_by_key(|block| (block.addr, block.id));
        let settings = lasting.settings.clone();
        let mut map = Self { moment, settings, segments: Vec::with_capacity(segments.len()), blocks: Vec::new() };
        let mut rest = placed.as_slice();
        for segment in segments {
            rest = &rest[rest.partition_point(|block| block.addr < segment.addr)..];
            let (within, after) = rest.split_at(rest.partition_point(|block| block.addr < segment.end()));
            map.push(segment, lasting.home(segment), within);
            rest = after;
        }
        map
    }

    pub fn blocks_of(&self, segment: &MapSegment) -> &[MapBlock] {
        &self.blocks[segment.blocks.clone()]
    }

    fn push(&mut self, segment: &SegmentAt, home: u64, placed: &[Placed]) {
        let first = self.blocks.len();
        let mut at = segment.addr;
        for (index, block) in placed.iter().enumerate() {
            let room = placed.get(index + 1).map_or(segment.end(), |next| next.addr) - block.addr;
            if room > 0 {
                self.push_free(at..block.addr);
                let block = self.fitted(block, room);
                at = block.addr + block.size_bytes;
                self.blocks.push(block);
            }
        }
        self.push_free(at..segment.end());
        let blocks = &self.blocks[first..];
        let free = || blocks.iter().filter(|block| block.is_free()).map(|block| block.size_bytes);
        let used_bytes = segment.end() - segment.addr - free().sum::<u64>();
        let largest_free_bytes = free().max().unwrap_or(0);
        let blocks = first..self.blocks.len();
        self.segments.push(MapSegment { at: *segment, home, blocks, used_bytes, largest_free_bytes });
    }

    fn push_free(&mut self, Range { start: addr, end }: Range<u64>) {
        if addr < end {
            let (requested_bytes, rest_bytes, size_bytes) = (0, 0, end - addr);
            let (state, allocation) = (BlockState::Inactive, None);
            self.blocks.push(MapBlock { addr, size_bytes, requested_bytes, rest_bytes, state, allocation });
        }
    }

    /// Returns the block of an allocation, cut to the room up to the next one.
    fn fitted(&self, placed: &Placed, room: u64) -> MapBlock {
        let size_bytes = placed.size_bytes.clamp(1, room);
        let rounded = self.settings.block_bytes(placed.requested_bytes);
        MapBlock {
            addr: placed.addr,
            size_bytes,
            requested_bytes: placed.requested_bytes.min(size_bytes),
            rest_bytes: size_bytes.saturating_sub(rounded),
            state: placed.state,
            allocation: Some(placed.id),
        }
    }
}

/// Largest part of a held segment that is in use, in percent: 1/4, so that most of the segment is free.
const MOST_PERCENT: u64 = 25;

/// Segment that cannot go back to CUDA although at least 3/4 of it is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Position of the segment in [`SegmentMap::segments`].
    pub segment: usize,
    /// Allocations that hold the segment, the one with the largest block first.
    pub holders: Vec<AllocationId>,
}

/// Returns the segments of which at most 1/4 is in use, those with the most free bytes first.
///
/// Expandable segments are not among them, because they give back whole pages, wherever their blocks lie.
pub fn held_segments(map: &SegmentMap) -> Vec<Held> {
    let is_held = |segment: &MapSegment| {
        let (used_bytes, size_bytes) = (u128::from(segment.used_bytes), u128::from(segment.at.size_bytes));
        !segment.at.is_expandable && used_bytes > 0 && used_bytes * 100 <= size_bytes * u128::from(MOST_PERCENT)
    };
    let mut held = Vec::new();
    for (position, segment) in map.segments.iter().enumerate().filter(|(_, segment)| is_held(segment)) {
        let mut blocks: Vec<&MapBlock> = map.blocks_of(segment).iter().filter(|block| !block.is_free()).collect();
        blocks.short_sort_by_key(|block| Reverse(block.size_bytes));
        let holders = blocks.iter().filter_map(|block| block.allocation).collect();
        held.push(Held { segment: position, holders });
    }
    held.short_sort_by_key(|held| Reverse(map.segments[held.segment].free_bytes()));
    held
}

/// Segments that one request may use: those of its pool, its stream and its size class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Pool; `(0, 0)` is the default one, also if the snapshot names none.
    pub pool: PoolId,
    pub stream: u64,
    /// Small for requests of up to 1 MiB, large for all others.
    pub segment_type: SegmentType,
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
    rooms.short_sort_by_key(|room| Reverse(room.reserved_bytes));
    rooms
}
