//! Carries out steps on an allocator, with any driver below it.

use hashbrown::HashMap;

use super::initial::Initial;
use super::steps::{Step, StepKind};
use crate::allocator::{Allocator, BlockId, Driver, OutOfMemory, PendingFree, PoolKey, Settings};
use crate::trace::PoolId;

/// Stream that no trace has; it stands for the other users of a block, which are not recorded.
const OTHER_STREAM: u64 = u64::MAX;

/// Allocator with its blocks by the addresses that the trace has for them.
pub(super) struct Runner<D> {
    pub(super) allocator: Allocator<D>,
    open: HashMap<u64, BlockId>,
    pending: HashMap<u64, PendingFree>,
    pools: HashMap<PoolId, PoolKey>,
}

impl<D: Driver> Runner<D> {
    pub(super) fn new(settings: Settings, driver: D) -> Self {
        let allocator = Allocator::new(settings, driver);
        Self { allocator, open: HashMap::new(), pending: HashMap::new(), pools: HashMap::new() }
    }

    /// Places the memory from before the trace.
    pub(super) fn place(&mut self, initial: &Initial) {
        for (index, segment) in initial.segments.iter().enumerate() {
            let pool = self.pool(segment.pool);
            let next = initial.segments.get(index + 1).map(|next| next.range.start);
            let placed = segment.placed(pool, next);
            let blocks = self.allocator.place(&placed);
            let known = placed.blocks.iter().zip(blocks).filter_map(|(block, id)| Some((block.addr, id?)));
            self.open.extend(known);
        }
    }

    /// Carries out one step; returns the error of a request that fails.
    pub(super) fn carry_out(&mut self, step: &Step) -> Option<OutOfMemory> {
        match step.kind {
            StepKind::Allocate { addr, size_bytes, stream, pool } => {
                let pool = self.pool(pool);
                match self.allocator.allocate(size_bytes, stream, pool) {
                    Ok(block) => drop(self.open.insert(addr, block)),
                    Err(oom) => {
                        self.open.remove(&addr);
                        return Some(oom);
                    }
                }
            }
            StepKind::Fail { size_bytes, stream, pool } => {
                let pool = self.pool(pool);
                match self.allocator.allocate(size_bytes, stream, pool) {
                    // On this device the request does not fail, and the program would have gone on differently.
                    Ok(block) => drop(self.allocator.free(block)),
                    Err(oom) => return Some(oom),
                }
            }
            StepKind::Free { addr, is_shared } => {
                if let Some(block) = self.open.remove(&addr) {
                    self.free(addr, block, is_shared);
                }
            }
            StepKind::Complete { addr } => {
                if let Some(pending) = self.pending.remove(&addr) {
                    self.allocator.complete(pending);
                } else if let Some(block) = self.open.remove(&addr) {
                    // The trace began between the request for the free and its completion, or has only the completion.
                    self.free(addr, block, false);
                }
            }
            StepKind::EmptyCache => self.allocator.empty_cache(),
        }
        None
    }

    fn free(&mut self, addr: u64, block: BlockId, is_shared: bool) {
        if is_shared {
            self.allocator.record_stream(block, OTHER_STREAM);
        }
        if let Some(pending) = self.allocator.free(block) {
            self.pending.insert(addr, pending);
        }
    }

    /// Returns the address of the block that has the address `addr` in the trace.
    pub(super) fn addr_of(&self, addr: u64) -> Option<u64> {
        self.open.get(&addr).map(|&block| self.allocator.addr_of(block))
    }

    /// Returns the allocator's pool for one of the trace; `None` if no request used it yet.
    pub(super) fn known_pool(&self, pool: Option<PoolId>) -> Option<PoolKey> {
        match pool {
            None | Some(PoolId(0, 0)) => Some(PoolKey::DEFAULT),
            Some(pool) => self.pools.get(&pool).copied(),
        }
    }

    /// Returns the trace's pool for one of the allocator.
    pub(super) fn pool_id(&self, key: PoolKey) -> PoolId {
        let private = self.pools.iter().find(|(_, private)| **private == key);
        private.map_or(PoolId::default(), |(id, _)| *id)
    }

    /// Returns the allocator's pool for one of the trace, and creates it on first use.
    pub(super) fn pool(&mut self, pool: Option<PoolId>) -> PoolKey {
        match pool {
            None | Some(PoolId(0, 0)) => PoolKey::DEFAULT,
            Some(pool) => *self.pools.entry(pool).or_insert_with(|| self.allocator.create_pool()),
        }
    }
}
