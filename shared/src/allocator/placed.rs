//! Segments that were there before the first request: a recording that began late shows them at its end.

use super::block::{Block, BlockId, BlockUse};
use super::core::Allocator;
use super::driver::Driver;
use super::expandable::Reservation;
use super::pool::{PoolIndex, PoolKey};
use super::rounding;

/// A block in use at a known address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedBlock {
    /// The first address.
    pub addr: u64,
    /// The rounded length; 0 where it is to be made from the request.
    pub size_bytes: u64,
    /// The request.
    pub requested_bytes: u64,
}

/// A segment at a known address with the blocks in use, in the order of their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSegment {
    /// The first address.
    pub addr: u64,
    /// The length.
    pub size_bytes: u64,
    /// The raw stream handle.
    pub stream: u64,
    /// The pool.
    pub pool: PoolKey,
    /// Whether it serves requests of up to 1 MiB.
    pub is_small: bool,
    /// Whether it is expandable: its addresses go on behind it as far as the card is large.
    pub is_expandable: bool,
    /// How far addresses can go on behind it, where something else follows.
    pub room_bytes: Option<u64>,
    /// The blocks in use; what lies between them is free.
    pub blocks: Vec<PlacedBlock>,
}

impl<D: Driver> Allocator<D> {
    /// Lays a segment down as it is, and answers the handles of its blocks in use.
    ///
    /// The segment has to end at [`LAST_ADDR`](super::LAST_ADDR) or before.
    /// Segments that are laid down first count as the older ones.
    /// The driver is not asked: whoever models the card takes the segment's bytes off it.
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

    /// The segment as one free block in its pool.
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
        // What goes on behind the segment is as large as the card, if there are so many addresses.
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

    /// Takes a block out of a free one: its handle, and the free rest behind it.
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
