//! Finds the smallest free block of the stream that holds a request (best fit), and releases memory by garbage
//! collection and in steps when the device is full.
//!
//! Among blocks of equal size the first in the pool's order wins.

use super::block::{BlockId, BlockUse, EventKind, PoolIndex, PoolKey};
use super::core::{Allocator, Request};
use super::driver::Driver;
use super::free_list::FreeKey;
use super::rounding::{MIN_BLOCK, SMALL_REQUEST};

impl<D: Driver> Allocator<D> {
    /// Takes the best free block out of the pool.
    pub(super) fn find(&mut self, request: &Request) -> Option<BlockId> {
        if self.counts_ages() {
            self.half_mut(request.pool).searches += 1;
        }
        let key = self.best(request)?;
        if self.is_too_large(key.size_bytes, request) {
            return None;
        }
        self.half_mut(request.pool).of_mut(request.stream).mapped.remove(&key);
        Some(key.id)
    }

    /// Takes a free block from a private pool with `use_on_oom`, and rewrites the request for that pool.
    ///
    /// Expandable segments are left out.
    pub(super) fn find_in_other_pools(&mut self, request: &Request) -> Option<(BlockId, Request)> {
        if request.pool.key() != PoolKey::DEFAULT {
            return None;
        }
        (1..self.pools.len()).find_map(|index| {
            let pool = &self.pools[index];
            if !pool.options.helps_out || pool.users == 0 {
                return None;
            }
            let pool = PoolIndex::new(PoolKey(index as u32), request.pool.is_small());
            let helped = Request { pool, is_expandable: false, ..*request };
            Some((self.find(&helped)?, helped))
        })
    }

    /// Returns true if ages are counted, which only the garbage collection needs.
    pub(super) fn counts_ages(&self) -> bool {
        self.allowed_bytes.is_some() && self.settings.garbage_collection_threshold > 0.0
    }

    fn best(&self, request: &Request) -> Option<FreeKey> {
        let free = &self.half(request.pool).of(request.stream)?.mapped;
        let first = free.first_from(request.block_bytes)?;
        if self.blocks[first.id].reservation.is_none() {
            return Some(first);
        }
        let mut rest = free.after(first);
        if request.is_expandable {
            // Without addresses to grow into, the smallest block is the one with the least room.
            let grows = self.room(first.id) > first.size_bytes;
            return Some(if grows { self.least_room(first, rest) } else { first });
        }
        // The request may not use expandable segments: they were switched off after these blocks came, or the pool only
        // helps out (`use_on_oom`).
        rest.find(|key| self.blocks[key.id].reservation.is_none())
    }

    /// Picks the fitting block that could grow least.
    ///
    /// A block before unmapped addresses counts with the size that it could grow to, so a larger one may fit better.
    fn least_room(&self, first: FreeKey, rest: impl Iterator<Item = FreeKey>) -> FreeKey {
        let mut best = first;
        for next in rest {
            let grows = self.blocks[best.id].reservation.is_some();
            if !grows || self.room(next.id) >= self.room(best.id) {
                break;
            }
            best = next;
        }
        best
    }

    /// Returns the size of a block plus the unmapped addresses after it.
    fn room(&self, block: BlockId) -> u64 {
        let block = &self.blocks[block];
        let after = block.next.map(|next| &self.blocks[next]).filter(|next| next.state == BlockUse::Unmapped);
        block.size_bytes + after.map_or(0, |next| next.size_bytes)
    }

    /// Returns true if the block may not serve the request because it may not be split.
    ///
    /// Such blocks serve large requests only, and only if they waste less than `max_non_split_rounding_bytes`.
    fn is_too_large(&self, size_bytes: u64, request: &Request) -> bool {
        if self.settings.is_oversize(request.block_bytes) {
            size_bytes >= request.block_bytes + self.settings.max_non_split_rounding_bytes
        } else {
            self.settings.is_oversize(size_bytes)
        }
    }

    /// Returns true if what the block has beyond the request becomes a block of its own.
    pub(super) fn should_split(&self, block: BlockId, request: &Request) -> bool {
        let rest = self.blocks[block].size_bytes - request.block_bytes;
        if self.pools[request.pool.key().0 as usize].options.is_unsplit {
            false
        } else if request.pool.is_small() || request.is_expandable {
            rest >= MIN_BLOCK
        } else {
            !self.settings.is_oversize(request.block_bytes) && rest > SMALL_REQUEST
        }
    }
}

impl<D: Driver> Allocator<D> {
    /// Releases the older unsplit segments of the large pool, pass after pass, until enough is released.
    ///
    /// A block's age is the number of searches since it became free.
    /// Each pass releases the blocks of at least average age, and is always finished, so that the next collection is
    /// far off.
    pub(super) fn collect_garbage(&mut self) {
        let Some(allowed) = self.allowed_bytes.filter(|_| self.counts_ages()) else { return };
        let threshold = (self.settings.garbage_collection_threshold * allowed as f64) as u64;
        let target = self.counters.reserved_bytes.now.saturating_sub(threshold);
        if target == 0 {
            return;
        }
        let pool = PoolIndex::new(PoolKey::DEFAULT, false);
        let searches = self.half(pool).searches;
        let is_whole = |id: &BlockId| !self.blocks[*id].is_split();
        let mut whole: Vec<BlockId> = self.half(pool).mapped().filter(is_whole).collect();
        let age = |allocator: &Self, id: BlockId| searches - allocator.blocks[id].free_since;
        let mut total_age: u64 = whole.iter().map(|id| age(self, *id)).sum();
        let mut released = 0;
        while released < target && !whole.is_empty() {
            let average = total_age as f64 / whole.len() as f64;
            let is_old = |id: &BlockId| self.blocks[*id].reservation.is_none() && age(self, *id) as f64 >= average;
            let (old, young): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_old);
            if old.is_empty() {
                return;
            }
            for block in old {
                total_age -= age(self, block);
                released += self.blocks[block].size_bytes;
                self.release(block);
            }
            whole = young;
        }
        self.counters.collections += u64::from(released > 0);
    }

    /// Releases blocks that may not be split: the first that is large enough, or the largest ones until their sum is.
    ///
    /// Returns true if enough was released.
    pub(super) fn release_oversize(&mut self, request: &Request) -> bool {
        let Some(limit) = self.settings.max_split_bytes else { return false };
        let wanted = request.block_bytes.max(limit);
        let Some(free) = self.half(request.pool).of(request.stream) else { return false };
        // With `max_split_bytes` set, nothing this large is ever split, but segments placed from a snapshot may be.
        let is_fixed = |id: &BlockId| self.blocks[*id].reservation.is_none();
        let is_candidate = |id: &BlockId| !is_fixed(id) || !self.blocks[*id].is_split();
        let first = free.mapped.at_least(wanted).map(|key| key.id).find(is_candidate);
        if let Some(block) = first.filter(is_fixed) {
            self.release(block);
            return true;
        }
        // If the first block that fits is expandable, PyTorch looks only at smaller ones.
        let smaller = free.mapped.at_least(limit).take_while(|key| key.size_bytes < wanted).map(|key| key.id);
        let candidates: Vec<_> = smaller.filter(|id| is_fixed(id) && is_candidate(id)).collect();
        let mut released = 0;
        for block in candidates.into_iter().rev() {
            if released >= wanted {
                break;
            }
            released += self.blocks[block].size_bytes;
            self.release(block);
        }
        released >= wanted
    }

    /// Completes all pending frees, then releases every free block that is a whole segment.
    ///
    /// During a capture, only the memory of pools without users is released.
    pub fn empty_cache(&mut self) {
        if !self.is_capturing() {
            while let Some((_, block)) = self.pending.pop_front() {
                self.free_block(block);
            }
            self.release_half(PoolIndex::new(PoolKey::DEFAULT, false));
            self.release_half(PoolIndex::new(PoolKey::DEFAULT, true));
        }
        for index in 1..self.pools.len() {
            if self.pools[index].users == 0 {
                self.release_pool_blocks(PoolKey(index as u32));
            }
        }
    }

    /// Releases every free block of a private pool that is a whole segment, the small half first.
    pub(super) fn release_pool_blocks(&mut self, pool: PoolKey) {
        self.release_half(PoolIndex::new(pool, true));
        self.release_half(PoolIndex::new(pool, false));
    }

    fn release_half(&mut self, pool: PoolIndex) {
        let free: Vec<BlockId> = self.half(pool).mapped().collect();
        let (expandable, fixed): (Vec<_>, Vec<_>) =
            free.into_iter().partition(|id| self.blocks[*id].reservation.is_some());
        for block in fixed {
            if !self.blocks[block].is_split() {
                self.release(block);
            }
        }
        for block in expandable {
            self.unmap(block);
        }
    }

    /// Gives one whole segment back to the driver.
    fn release(&mut self, block: BlockId) {
        let row = self.blocks[block];
        self.record(EventKind::SegmentFree, row.addr, row.size_bytes, row.stream, row.pool);
        self.remove_available(block);
        self.blocks.remove(block);
        self.driver.free(row.addr, row.size_bytes);
        self.counters.segment_frees += 1;
        self.counters.reserved_bytes.sub(row.size_bytes);
    }
}
