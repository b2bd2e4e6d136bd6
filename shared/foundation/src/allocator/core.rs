//! Serves requests, takes blocks back, and keeps the address ranges that expandable segments have reserved.
//!
//! ```text
//! allocate  search the pool ─ collect garbage ─ fetch ─ search the pools with `use_on_oom` ─
//!           release oversize blocks, fetch ─ release all, fetch ─ oom
//! free      at once, or when the other streams that used the block are done (complete)
//! ```
//!
//! Cost: O(log free blocks) for a request that the pool serves.
//! Memory grows with the highest number of blocks, and with the events that are not cleared.

use super::block::{Block, BlockId, BlockUse, Blocks, Event, EventKind, PoolIndex, PoolKey};
use super::counters::Counters;
use super::driver::Driver;
use super::free_list::{HalfPool, Pool, PoolOptions};
use super::rounding;
use super::settings::Settings;
use std::collections::VecDeque;

/// A request that could not be served; an `oom` event has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Rounded request in bytes.
    pub block_bytes: u64,
    /// Bytes that were left on the device.
    pub free_bytes: u64,
}

/// Handle of a free that waits for other streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PendingFree(u64);

/// The caching allocator of one device.
#[derive(Debug)]
pub struct Allocator<D> {
    pub(super) settings: Settings,
    pub(super) driver: D,
    pub(super) allowed_bytes: Option<u64>,
    pub(super) blocks: Blocks,
    pub(super) pools: Vec<Pool>,
    pub(super) reservations: Reservations,
    /// Freed blocks that other streams still use, oldest first.
    pub(super) pending: VecDeque<(PendingFree, BlockId)>,
    next_pending: u64,
    pub(super) counters: Counters,
    pub(super) events: Vec<Event>,
    captures: u32,
    /// Number of segments so far; stays 0 unless the version orders free blocks by it.
    orders: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) block_bytes: u64,
    pub(super) segment_bytes: u64,
    pub(super) stream: u64,
    pub(super) pool: PoolIndex,
    /// True if expandable segments may serve the request.
    pub(super) is_expandable: bool,
}

impl<D: Driver> Allocator<D> {
    pub fn new(settings: Settings, driver: D) -> Self {
        Self {
            allowed_bytes: settings.allowed_bytes(driver.total_bytes()),
            settings,
            driver,
            blocks: Blocks::default(),
            pools: vec![Pool::new(PoolOptions::default())],
            reservations: Reservations::default(),
            pending: VecDeque::new(),
            next_pending: 0,
            counters: Counters::default(),
            events: Vec::new(),
            captures: 0,
            orders: 0,
        }
    }

    /// Serves a request of `size_bytes` on a stream from a pool.
    ///
    /// PyTorch makes no request for a tensor without elements, and neither should the caller.
    ///
    /// # Errors
    /// Returns an error if the memory does not suffice after everything that can be released was released.
    pub fn allocate(&mut self, size_bytes: u64, stream: u64, pool: PoolKey) -> Result<BlockId, OutOfMemory> {
        let size_bytes = size_bytes.min(rounding::MOST_BYTES);
        let mut request = self.request(size_bytes, stream, pool);
        let Some(found) = self.find(&request).or_else(|| self.fetch(&mut request)) else {
            return Err(self.out_of_memory(&request));
        };
        let block = if self.should_split(found, &request) {
            let front = self.blocks.split_front(found, request.block_bytes);
            self.insert_free(found);
            front
        } else {
            found
        };
        let row = &mut self.blocks[block];
        (row.state, row.requested_bytes) = (BlockUse::Allocated, size_bytes);
        let (addr, block_bytes) = (row.addr, row.size_bytes);
        self.counters.allocated(size_bytes, block_bytes);
        self.record(EventKind::Alloc, addr, size_bytes, stream, request.pool);
        Ok(block)
    }

    /// Marks a block as used by a stream, so that its free waits for that stream.
    pub fn record_stream(&mut self, block: BlockId, stream: u64) {
        let block = &mut self.blocks[block];
        block.is_shared |= stream != block.stream;
    }

    /// Frees a block; if another stream used it, the free is pending until [`complete`](Self::complete).
    pub fn free(&mut self, block: BlockId) -> Option<PendingFree> {
        let &Block { addr, size_bytes, requested_bytes, stream, pool, state, is_shared, .. } = &self.blocks[block];
        debug_assert_eq!(state, BlockUse::Allocated, "a block is freed once");
        self.counters.freed(size_bytes);
        self.record(EventKind::FreeRequested, addr, requested_bytes, stream, pool);
        if !is_shared {
            self.free_block(block);
            return None;
        }
        let pending = PendingFree(self.next_pending);
        self.next_pending += 1;
        self.blocks[block].state = BlockUse::PendingFree;
        self.pending.push_back((pending, block));
        Some(pending)
    }

    /// Completes a pending free because the other streams are done with the block.
    ///
    /// Does nothing if the allocator has already waited for those streams itself.
    /// PyTorch checks this at the beginning of each request.
    pub fn complete(&mut self, pending: PendingFree) {
        if let Ok(position) = self.pending.binary_search_by_key(&pending, |row| row.0)
            && let Some((_, block)) = self.pending.remove(position)
        {
            self.free_block(block);
        }
    }

    /// Releases the memory of a private pool without users, as the end of a `MemPool` does.
    pub fn empty_pool(&mut self, pool: PoolKey) {
        if self.pools[pool.0 as usize].users > 0 {
            return;
        }
        let is_ready = |row: &&(PendingFree, BlockId)| self.blocks[row.1].pool.key() == pool;
        let (ready, rest): (Vec<_>, Vec<_>) = self.pending.iter().partition(is_ready);
        self.pending = VecDeque::from(rest);
        for (_, block) in ready {
            self.free_block(block);
        }
        self.release_pool_blocks(pool);
    }

    /// Adds a private pool for a graph capture or for a `MemPool` without options.
    pub fn create_pool(&mut self) -> PoolKey {
        self.create_pool_with(PoolOptions::default())
    }

    /// Adds a private pool for a `MemPool` with options.
    pub fn create_pool_with(&mut self, options: PoolOptions) -> PoolKey {
        self.pools.push(Pool::new(options));
        PoolKey(u32::try_from(self.pools.len() - 1).expect("fewer than 2^32 pools"))
    }

    /// Adds a user to a private pool.
    pub fn retain_pool(&mut self, pool: PoolKey) {
        self.pools[pool.0 as usize].users += 1;
    }

    /// Removes a user from a private pool; the memory of a pool without users is released with the cache.
    pub fn release_pool(&mut self, pool: PoolKey) {
        let users = &mut self.pools[pool.0 as usize].users;
        *users = users.saturating_sub(1);
    }

    /// Begins a capture: until it ends, no request releases the whole cache.
    ///
    /// Each request names its pool, so the capture itself diverts nothing.
    pub fn begin_capture(&mut self) {
        self.captures += 1;
    }

    pub fn end_capture(&mut self) {
        self.captures = self.captures.saturating_sub(1);
    }

    pub(super) fn is_capturing(&self) -> bool {
        self.captures > 0
    }

    fn request(&self, size_bytes: u64, stream: u64, pool: PoolKey) -> Request {
        let block_bytes = rounding::block_bytes(size_bytes, &self.settings);
        let segment_bytes = rounding::segment_bytes(block_bytes, &self.settings);
        let pool = PoolIndex::new(pool, block_bytes <= rounding::SMALL_REQUEST);
        Request { block_bytes, segment_bytes, stream, pool, is_expandable: self.settings.expandable_segments }
    }

    /// Gets a block that is not in the pool; if another pool with `use_on_oom` serves it, the request is rewritten.
    fn fetch(&mut self, request: &mut Request) -> Option<BlockId> {
        self.collect_garbage();
        if let Some(block) = self.fetch_once(request) {
            return Some(block);
        }
        if let Some((block, helped)) = self.find_in_other_pools(request) {
            *request = helped;
            return Some(block);
        }
        if self.release_oversize(request)
            && let Some(block) = self.fetch_once(request)
        {
            return Some(block);
        }
        if self.is_capturing() {
            return None;
        }
        self.empty_cache();
        self.counters.retries += 1;
        self.fetch_once(request)
    }

    fn fetch_once(&mut self, request: &Request) -> Option<BlockId> {
        let reserved = self.counters.reserved_bytes.now;
        if self.allowed_bytes.is_some_and(|allowed| reserved.saturating_add(request.segment_bytes) > allowed) {
            return None;
        }
        if request.is_expandable { self.expand(request) } else { self.fetch_segment(request) }
    }

    fn fetch_segment(&mut self, request: &Request) -> Option<BlockId> {
        let &Request { segment_bytes, stream, pool, .. } = request;
        let addr = self.driver.malloc(segment_bytes)?;
        self.counters.segment_allocs += 1;
        self.counters.reserved_bytes.add(segment_bytes);
        self.record(EventKind::SegmentAlloc, addr, segment_bytes, stream, pool);
        let order = self.next_order();
        Some(self.blocks.add(Block { order, ..Block::new(addr, segment_bytes, stream, pool) }))
    }

    /// Returns the rank of a new segment by age, where the version orders free blocks by it.
    pub(super) fn next_order(&mut self) -> u32 {
        if self.settings.version.orders_by_segment() {
            self.orders = self.orders.saturating_add(1);
        }
        self.orders
    }

    fn out_of_memory(&mut self, request: &Request) -> OutOfMemory {
        let free_bytes = self.driver.free_bytes();
        self.counters.ooms += 1;
        self.record(EventKind::Oom, free_bytes, request.block_bytes, request.stream, request.pool);
        OutOfMemory { block_bytes: request.block_bytes, free_bytes }
    }

    /// Puts a block back into its pool, merged with free neighbours.
    pub(super) fn free_block(&mut self, block: BlockId) {
        let row = &mut self.blocks[block];
        (row.state, row.is_shared) = (BlockUse::Free, false);
        let &mut Block { addr, size_bytes, requested_bytes, stream, pool, .. } = row;
        self.record(EventKind::FreeCompleted, addr, requested_bytes, stream, pool);
        self.counters.completed(requested_bytes, size_bytes);
        self.merge(block);
        self.insert_free(block);
    }

    /// Merges a block that is in no pool with the neighbours of the same state.
    pub(super) fn merge(&mut self, block: BlockId) {
        let &Block { state, prev, next, .. } = &self.blocks[block];
        for neighbour in [prev, next].into_iter().flatten() {
            if self.blocks[neighbour].state == state {
                self.remove_available(neighbour);
                self.blocks.absorb(block, neighbour);
            }
        }
    }

    pub(super) fn half_mut(&mut self, pool: PoolIndex) -> &mut HalfPool {
        self.pools[pool.key().0 as usize].half_mut(pool.is_small())
    }

    pub(super) fn half(&self, pool: PoolIndex) -> &HalfPool {
        self.pools[pool.key().0 as usize].half(pool.is_small())
    }

    pub(super) fn insert_free(&mut self, block: BlockId) {
        let row = &mut self.blocks[block];
        self.pools[row.pool.key().0 as usize].half_mut(row.pool.is_small()).insert(block, row);
    }

    /// Takes a free or unmapped block out of its pool.
    pub(super) fn remove_available(&mut self, block: BlockId) {
        let row = &self.blocks[block];
        let half = self.pools[row.pool.key().0 as usize].half_mut(row.pool.is_small());
        match row.state {
            BlockUse::Unmapped => half.remove_unmapped(block, row),
            _ => half.remove(block, row),
        }
    }

    pub(super) fn record(&mut self, kind: EventKind, addr: u64, size_bytes: u64, stream: u64, pool: PoolIndex) {
        self.events.push(Event { kind, addr, size_bytes, stream, pool: pool.key() });
    }
}

/// Reserved range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reservation {
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
    pub(super) unit_bytes: u64,
}

/// Table of all reservations; rows of released ones are reused.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    rows: Vec<Option<Reservation>>,
}

impl Reservations {
    pub(super) fn add(&mut self, reservation: Reservation) -> u32 {
        let index = self.rows.iter().position(Option::is_none).unwrap_or(self.rows.len());
        self.rows.resize(self.rows.len().max(index + 1), None);
        self.rows[index] = Some(reservation);
        index as u32
    }

    pub(super) fn get(&self, index: u32) -> Reservation {
        self.rows[index as usize].expect("a block's reservation lives as long as the block")
    }

    pub(super) fn remove(&mut self, index: u32) {
        self.rows[index as usize] = None;
    }
}
