//! Expandable segments: one reserved range of addresses per pool and stream, into which memory is mapped in units.
//!
//! A further range is reserved only when the first has no room left.
//!
//! ```text
//! units of 20 MiB      |████████████████████|░░░░░░░░░░░░░░░░░░░░|░░░░░░ ... up to 1 1/8 of the device's memory
//! 3 MiB                |AAA.................|                          map 1
//! 30 MiB               |AAABBBBBBBBBBBBBBBBB|BBBBBBBBBBBBB.......|      map 1 more, B begins in what was left
//! empty_cache without B|AAA.................|                          unmap 1: only whole units are unmapped
//! ```

use super::block::{Block, BlockId, BlockUse, EventKind, PoolIndex};
use super::core::{Allocator, Request, Reservation};
use super::driver::Driver;

impl<D: Driver> Allocator<D> {
    /// Maps the memory that a request needs at the lowest addresses that have room for it.
    pub(super) fn expand(&mut self, request: &Request) -> Option<BlockId> {
        let mut block = self.find_room(request);
        if self.blocks[block].state == BlockUse::Unmapped {
            self.map(block, request.block_bytes)?;
        }
        while self.blocks[block].size_bytes < request.block_bytes {
            let missing = request.block_bytes - self.blocks[block].size_bytes;
            // There is room, and free neighbours are merged, so the next block is unmapped.
            block = self.blocks[block].next?;
            self.map(block, missing)?;
        }
        self.remove_available(block);
        Some(block)
    }

    /// Returns the first block of the lowest free and unmapped range that is large enough.
    ///
    /// Reserves a new range if there is none.
    fn find_room(&mut self, request: &Request) -> BlockId {
        let unmapped = self.half(request.pool).of(request.stream).map(|free| &free.unmapped);
        for &(_, block) in unmapped.into_iter().flatten() {
            let before = self.blocks[block].prev.filter(|&prev| self.blocks[prev].is_available());
            let start = before.unwrap_or(block);
            if self.has_room(start, request.block_bytes) {
                return start;
            }
        }
        self.reserve(request.stream, request.pool)
    }

    fn has_room(&self, start: BlockId, size_bytes: u64) -> bool {
        let mut room = 0;
        let mut next = Some(start);
        while let Some(block) = next.map(|id| &self.blocks[id]).filter(|block| block.is_available()) {
            room = u64::saturating_add(room, block.size_bytes);
            if room >= size_bytes {
                return true;
            }
            next = block.next;
        }
        false
    }

    /// Reserves addresses for 1 1/8 of the device's memory.
    fn reserve(&mut self, stream: u64, pool: PoolIndex) -> BlockId {
        let unit_bytes = self.settings.unit_bytes(pool.is_small());
        let total = self.driver.total_bytes();
        let size_bytes = (total + total / 8).next_multiple_of(unit_bytes);
        let addr = self.driver.reserve(size_bytes);
        self.add_reservation(Reservation { addr, size_bytes, unit_bytes }, stream, pool)
    }

    /// Adds a reservation as one unmapped block.
    pub(super) fn add_reservation(&mut self, reservation: Reservation, stream: u64, pool: PoolIndex) -> BlockId {
        let Reservation { addr, size_bytes, .. } = reservation;
        let reservation = Some(self.reservations.add(reservation));
        let order = self.next_order();
        let empty = Block::new(addr, size_bytes, stream, pool);
        let block = Block { state: BlockUse::Unmapped, reservation, order, ..empty };
        let id = self.blocks.add(block);
        self.half_mut(pool).insert_unmapped(id, &block);
        id
    }

    /// Maps the front of an unmapped block in whole units; it becomes a free block, merged with its neighbours.
    fn map(&mut self, block: BlockId, size_bytes: u64) -> Option<()> {
        let row = self.blocks[block];
        let unit_bytes = self.unit_of(&row);
        let mapped_bytes = size_bytes.min(row.size_bytes).next_multiple_of(unit_bytes);
        if !self.driver.map(row.addr, mapped_bytes, unit_bytes) {
            return None;
        }
        self.half_mut(row.pool).remove_unmapped(block, &row);
        if mapped_bytes < row.size_bytes {
            let rest = self.blocks.split_back(block, mapped_bytes);
            let rest_row = self.blocks[rest];
            self.half_mut(row.pool).insert_unmapped(rest, &rest_row);
        }
        self.blocks[block].state = BlockUse::Free;
        self.merge(block);
        self.insert_free(block);
        self.counters.maps += 1;
        self.counters.reserved_bytes.add(mapped_bytes);
        self.record(EventKind::SegmentMap, row.addr, mapped_bytes, row.stream, row.pool);
        Some(())
    }

    /// Unmaps the whole units inside a free block; the rest at both ends stays free.
    pub(super) fn unmap(&mut self, block: BlockId) {
        let row = self.blocks[block];
        let Some((start, end)) = self.whole_units(&row) else { return };
        let unit_bytes = self.unit_of(&row);
        self.remove_available(block);
        if end < row.end() {
            let after = self.blocks.split_back(block, end - row.addr);
            self.insert_free(after);
        }
        if start > row.addr {
            let before = self.blocks.split_front(block, start - row.addr);
            self.insert_free(before);
        }
        self.blocks[block].state = BlockUse::Unmapped;
        self.merge(block);
        let unmapped = self.blocks[block];
        self.half_mut(row.pool).insert_unmapped(block, &unmapped);
        self.driver.unmap(start, end - start, unit_bytes);
        self.counters.unmaps += 1;
        self.counters.reserved_bytes.sub(end - start);
        self.record(EventKind::SegmentUnmap, start, end - start, row.stream, row.pool);
        if !unmapped.is_split() {
            self.unreserve(block);
        }
    }

    /// Returns the range of whole units inside a block.
    fn whole_units(&self, block: &Block) -> Option<(u64, u64)> {
        let Reservation { addr, unit_bytes, .. } = self.reservations.get(block.reservation?);
        let start = addr + (block.addr - addr).next_multiple_of(unit_bytes);
        let end = addr + (block.end() - addr) / unit_bytes * unit_bytes;
        (start < end).then_some((start, end))
    }

    /// Releases a reservation that has no memory left.
    fn unreserve(&mut self, block: BlockId) {
        let row = self.blocks[block];
        let Some(index) = row.reservation else { return };
        let Reservation { addr, size_bytes, .. } = self.reservations.get(index);
        self.remove_available(block);
        self.blocks.remove(block);
        self.reservations.remove(index);
        self.driver.unreserve(addr, size_bytes);
    }

    fn unit_of(&self, block: &Block) -> u64 {
        let unit = |index| self.reservations.get(index).unit_bytes;
        block.reservation.map_or(super::rounding::SMALL_SEGMENT, unit)
    }
}
