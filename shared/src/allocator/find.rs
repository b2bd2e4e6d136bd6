//! Best fit: finds the smallest free block of the stream that holds the request.
//!
//! Among blocks of equal size the first in the pool's order wins.

use super::block::{BlockId, BlockUse, PoolIndex, PoolKey};
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
