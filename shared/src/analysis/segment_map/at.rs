//! Segments with the blocks that tile them, at one moment.
//!
//! Idea: segments are wound back from the final ones, and what is alive is known by address and request.
//! A block is as long as its rounded request; in the large pool it keeps a rest that is too short to be split off.
//! What lies between blocks is free.
//!
//! ```text
//! alive       a at 0, 3 MiB      b at 3.5 MiB, 6 MiB + 100 B
//! segment     │ a 3 MiB │rest│ b 6 MiB + 512 B │  free, 10.5 MiB - 512 B  │        20 MiB, large pool
//! ```
//!
//! Blocks that are there at the end have the length that the file says.
//!
//! Cost: linear in the segments and blocks of the moment, and sorting the blocks by address.

use super::lasting::Lasting;
use crate::allocator::Settings;
use crate::analysis::segments_at::{SegmentAt, changes_of, segments_at};
use crate::analysis::{AllocationId, Allocations};
use crate::trace::{BlockState, Device, Trace};
use std::ops::Range;

/// One block of a [`MapSegment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapBlock {
    /// The first address.
    pub addr: u64,
    /// The length, rounding and rest included.
    pub size_bytes: u64,
    /// What was asked for; 0 for a free block.
    pub requested_bytes: u64,
    /// What it keeps behind its rounded request, since so little is never split off.
    pub rest_bytes: u64,
    /// In use, pending or free.
    pub state: BlockState,
    /// Whose it is; nothing for a free block.
    pub allocation: Option<AllocationId>,
}

impl MapBlock {
    /// Whether it is free.
    pub fn is_free(&self) -> bool {
        self.state == BlockState::Inactive
    }

    /// What rounding has added to the request.
    pub fn rounding_bytes(&self) -> u64 {
        if self.is_free() { 0 } else { self.size_bytes - self.rest_bytes - self.requested_bytes }
    }
}

/// One segment at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSegment {
    /// Addresses, stream and pool.
    pub at: SegmentAt,
    /// Where the expandable segment begins that it is a mapped range of; its own address for any other.
    pub home: u64,
    /// Positions of its blocks in [`SegmentMap::blocks`].
    pub blocks: Range<usize>,
    /// Bytes of blocks in use and of pending frees.
    pub used_bytes: u64,
    /// The longest free block.
    pub largest_free_bytes: u64,
}

impl MapSegment {
    /// Bytes of free blocks.
    pub fn free_bytes(&self) -> u64 {
        self.at.size_bytes.saturating_sub(self.used_bytes)
    }
}

/// All segments at a moment, by address, with the blocks that tile them.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentMap {
    /// The moment: 0 is before the first event, `n` is after event `n - 1`.
    pub moment: u32,
    /// The settings that blocks were rounded by.
    pub settings: Settings,
    /// The segments.
    pub segments: Vec<MapSegment>,
    /// The blocks of all segments, segment after segment.
    pub blocks: Vec<MapBlock>,
}

/// What is alive, before it is known how much room there is.
struct Placed {
    addr: u64,
    id: AllocationId,
    requested_bytes: u64,
    size_bytes: u64,
    state: BlockState,
}

impl SegmentMap {
    /// The segments of one moment; whoever looks at several keeps a [`SegmentHistory`](super::SegmentHistory).
    pub fn at(trace: &Trace, device: &Device, allocations: &Allocations, moment: u32) -> Self {
        let moment = moment.min(device.events.len() as u32);
        let lasting = Lasting::of(trace, device, allocations, &changes_of(device));
        let alive = allocations.alive_at(moment).map(|(id, _)| id);
        Self::of(&lasting, device, allocations, &segments_at(trace, device, moment), alive, moment)
    }

    /// Tiles segments with what is alive.
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
        // Of two at one address the later one is there: the end of the earlier one is missing from the trace.
        placed.sort_unstable_by_key(|block| (block.addr, block.id));
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

    /// The blocks of a segment.
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

    fn push_free(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.blocks.push(MapBlock {
                addr: range.start,
                size_bytes: range.end - range.start,
                requested_bytes: 0,
                rest_bytes: 0,
                state: BlockState::Inactive,
                allocation: None,
            });
        }
    }

    /// A block within the room up to the next one.
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
