//! Carries out the steps of a replay on an allocator, with any driver below it and a visitor that sees each step.

use super::batch::BatchScale;
use super::course::{CourseRecorder, ReplayColumn};
use super::initial::Initial;
use super::steps::{Step, StepKind, steps};
use crate::allocator::{
    Allocator, BlockId, BlockUse, Counters, Driver, OutOfMemory, PendingFree, PoolKey, Settings, VirtualCard,
};
use crate::analysis::track::allocations::Allocations;
use crate::trace::{BlockState, Device, PoolId, Trace};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Memory of a device that the CUDA context takes before the first tensor; libraries take more of it when first used.
pub const CONTEXT_BYTES: u64 = 512 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct ReplayConfig {
    pub settings: Settings,
    pub capacity_bytes: u64,
    /// Bytes of it that the CUDA context, other libraries and other processes take.
    pub elsewhere_bytes: u64,
}

impl ReplayConfig {
    /// Memory of a device that never fills, 1 TiB.
    ///
    /// It is not larger, because an expandable segment reserves addresses for the whole device.
    pub const NO_LIMIT_BYTES: u64 = 1 << 40;

    pub fn unlimited(settings: Settings) -> Self {
        Self { settings, capacity_bytes: Self::NO_LIMIT_BYTES, elsewhere_bytes: 0 }
    }

    /// Returns the memory of the device in bytes; `None` for one that never fills.
    pub fn limit_bytes(&self) -> Option<u64> {
        (self.capacity_bytes < Self::NO_LIMIT_BYTES).then_some(self.capacity_bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayOom {
    /// Index of the trace's event that made the request.
    pub event: usize,
    /// Rounded request in bytes.
    pub size_bytes: u64,
    /// Bytes that the device had left.
    pub free_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayReport {
    /// Sums, peaks and numbers of driver calls.
    pub counters: Counters,
    /// Requests that failed; the program would have ended with the first, but the replay goes on without them.
    pub ooms: Vec<ReplayOom>,
    /// Bytes that were live before the trace began; their blocks are placed as the final state shows them.
    pub initial_bytes: u64,
    /// Number of blocks from before the trace whose size or position is a guess.
    pub guessed_blocks: u64,
}

/// Trace of a device, ready to be replayed any number of times.
#[derive(Debug)]
pub struct Replayer<'a> {
    pub(super) trace: &'a Trace,
    pub(super) device: &'a Device,
    pub(super) initial: Initial,
}

impl<'a> Replayer<'a> {
    /// Reconstructs the memory from before the trace; `allocations` are the lifetimes of the device.
    pub fn new(trace: &'a Trace, device: &'a Device, allocations: &Allocations) -> Self {
        Self { trace, device, initial: Initial::of(trace, device, allocations) }
    }

    pub fn replay(&self, config: &ReplayConfig) -> ReplayReport {
        self.run(self.runner(config), None, |_, _, _| ControlFlow::Continue(())).0
    }

    /// Carries the requests out again, and records the course of memory.
    ///
    /// The course has at most `columns` columns of equally many events.
    pub fn course(&self, config: &ReplayConfig, columns: usize) -> (ReplayReport, Vec<ReplayColumn>) {
        let runner = self.runner(config);
        let mut recorder = CourseRecorder::new(&runner.allocator, self.device.events.len(), columns);
        let (report, _) = self.run(runner, None, |step, runner, _| {
            recorder.see(step, &runner.allocator);
            ControlFlow::Continue(())
        });
        (report, recorder.finish())
    }

    /// Returns true if every request is served.
    ///
    /// `scale` holds the requests that grow with the batch, and the factor by which they grow.
    /// The replay ends with the first request that fails.
    pub fn fits(&self, config: &ReplayConfig, scale: Option<(&BatchScale, f64)>) -> bool {
        let (report, _) = self.run(self.runner(config), scale, |_, _, failed| match failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        report.ooms.is_empty()
    }

    /// Carries out steps until `visit`, which sees each step with its effect, returns `Break`.
    pub(super) fn run(
        &self,
        mut runner: Runner<VirtualCard>,
        scale: Option<(&BatchScale, f64)>,
        mut visit: impl FnMut(&Step, &Runner<VirtualCard>, Option<OutOfMemory>) -> ControlFlow<()>,
    ) -> (ReplayReport, Runner<VirtualCard>) {
        let initial_bytes = runner.allocator.counters().live_bytes.now;
        let mut ooms = Vec::new();
        for mut step in steps(self.trace, self.device) {
            if let Some((scale, factor)) = scale {
                scale.apply(&mut step, factor);
            }
            let failed = runner.carry_out(&step);
            if let Some(OutOfMemory { block_bytes: size_bytes, free_bytes }) = failed {
                ooms.push(ReplayOom { event: step.event, size_bytes, free_bytes });
            }
            if visit(&step, &runner, failed).is_break() {
                break;
            }
            runner.allocator.clear_events();
        }
        let (counters, guessed_blocks) = (*runner.allocator.counters(), self.initial.guessed_blocks);
        (ReplayReport { counters, ooms, initial_bytes, guessed_blocks }, runner)
    }

    /// Creates an allocator on a device of its own, with the memory from before the trace.
    pub(super) fn runner(&self, config: &ReplayConfig) -> Runner<VirtualCard> {
        let taken = self.initial.reserved_bytes().saturating_add(config.elsewhere_bytes);
        let usable_bytes = config.capacity_bytes.saturating_sub(taken);
        let card = VirtualCard::beside(config.capacity_bytes, usable_bytes, self.initial.range());
        let mut runner = Runner::new(config.settings.clone(), card);
        runner.place(&self.initial);
        runner
    }
}

/// Carries the requests of a device's trace out again.
///
/// Memory from before the trace lies where the final state shows it, under the settings of the recording.
/// The program itself does not change: it requests the same bytes in the same order, and where the recording emptied
/// the cache the replay does, too, unless that was the allocator's own answer to a full device.
///
/// Cost: O(log free blocks) per event; memory is bounded by the live allocations.
pub fn replay(trace: &Trace, device: &Device, config: &ReplayConfig) -> ReplayReport {
    Replayer::new(trace, device, &Allocations::pair(device)).replay(config)
}

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
                let served = self.allocator.allocate(size_bytes, stream, pool);
                match served {
                    Ok(block) => drop(self.open.insert(addr, block)),
                    Err(_) => drop(self.open.remove(&addr)),
                }
                return served.err();
            }
            StepKind::Fail { size_bytes, stream, pool } => {
                let pool = self.pool(pool);
                let served = self.allocator.allocate(size_bytes, stream, pool);
                // On this device the request may not fail, and the program would have gone on differently.
                return served.map(|block| self.allocator.free(block)).err();
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

/// Returns the state that a snapshot has for a block of the allocator.
pub(super) fn block_state(state: BlockUse) -> BlockState {
    match state {
        BlockUse::Allocated => BlockState::Allocated,
        BlockUse::PendingFree => BlockState::PendingFree,
        BlockUse::Free | BlockUse::Unmapped => BlockState::Inactive,
    }
}
