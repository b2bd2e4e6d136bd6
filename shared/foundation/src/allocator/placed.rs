//! Places segments that were there before the first request, as a recording that began late needs them.

use super::block::{Block, BlockId, BlockUse, PoolIndex, PoolKey};
use super::core::{Allocator, Reservation};
use super::driver::Driver;
use super::rounding;

/// A block in use at a known address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedBlock {
    pub addr: u64,
    /// Rounded size; 0 if it is to be computed from the request.
    pub size_bytes: u64,
    pub requested_bytes: u64,
}

/// A segment at a known address with its blocks in use, in the order of their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSegment {
    pub addr: u64,
    pub size_bytes: u64,
    pub stream: u64,
    pub pool: PoolKey,
    /// True for a segment of the small pool, which serves blocks of up to 1 MiB.
    pub is_small: bool,
    /// True for an expandable segment: addresses for as much as the device's memory follow it.
    pub is_expandable: bool,
    /// Bytes of addresses that can follow an expandable segment, `None` if nothing limits them.
    pub room_bytes: Option<u64>,
    /// Blocks in use; everything between them is free.
    pub blocks: Vec<PlacedBlock>,
}

impl<D: Driver> Allocator<D> {
    /// Places a segment as it is, and returns the handles of its blocks in use.
    ///
    /// The segment has to end at [`LAST_ADDR`](super::LAST_ADDR) or before.
    /// Segments that are placed first count as the older ones.
    /// The driver is not asked: whoever models the device subtracts the segment's bytes.
    /// A block that overlaps the one before it, or lies outside of the segment, has no handle.
    pub fn place(&mut self, segment: &PlacedSegment) -> Vec<Option<BlockId>> {
        let pool = PoolIndex::new(segment.pool, segment.is_small);
        let mut rest = Some(self.place_empty(segment, pool));
        segment
            .blocks
            .iter()
            .map(|block| {
                let free = rest?;
                let (placed, after) = self.place_block(free, block)?;
                rest = after;
                Some(placed)
            })
            .collect()
    }

    /// Adds the segment as one free block in its pool.
    fn place_empty(&mut self, segment: &PlacedSegment, pool: PoolIndex) -> BlockId {
        self.counters.reserved_bytes.add(segment.size_bytes);
        if !segment.is_expandable {
            let order = self.next_order();
            let block = Block::new(segment.addr, segment.size_bytes, segment.stream, pool);
            let id = self.blocks.add(Block { order, ..block });
            self.insert_free(id);
            return id;
        }
        let unit_bytes = self.settings.unit_bytes(segment.is_small);
        // The addresses behind the segment suffice for the device's whole memory, unless there are fewer.
        let room = segment.room_bytes.unwrap_or(u64::MAX).min(u64::MAX - segment.addr - segment.size_bytes);
        let behind = self.driver.total_bytes().min(room) / unit_bytes;
        let size_bytes = segment.size_bytes + behind * unit_bytes;
        let id = self.add_reservation(Reservation { addr: segment.addr, size_bytes, unit_bytes }, segment.stream, pool);
        let unmapped = self.blocks[id];
        self.half_mut(pool).remove_unmapped(id, &unmapped);
        if behind > 0 {
            let after = self.blocks.split_back(id, segment.size_bytes);
            let after_row = self.blocks[after];
            self.half_mut(pool).insert_unmapped(after, &after_row);
        }
        self.blocks[id].state = BlockUse::Free;
        self.insert_free(id);
        id
    }

    /// Takes a block out of a free one; returns its handle and the free rest behind it.
    fn place_block(&mut self, free: BlockId, block: &PlacedBlock) -> Option<(BlockId, Option<BlockId>)> {
        let row = self.blocks[free];
        let size_bytes = match block.size_bytes {
            0 => rounding::block_bytes(block.requested_bytes, &self.settings),
            known => known,
        };
        let end = block.addr.checked_add(size_bytes).filter(|&end| end <= row.end())?;
        if block.addr < row.addr || size_bytes == 0 {
            return None;
        }
        self.remove_available(free);
        let rest = (end < row.end()).then(|| self.blocks.split_back(free, end - row.addr));
        if block.addr > row.addr {
            let before = self.blocks.split_front(free, block.addr - row.addr);
            self.insert_free(before);
        }
        if let Some(rest) = rest {
            self.insert_free(rest);
        }
        let placed = &mut self.blocks[free];
        (placed.state, placed.requested_bytes) = (BlockUse::Allocated, block.requested_bytes);
        self.counters.allocated(block.requested_bytes, size_bytes);
        Some((free, rest))
    }
}
