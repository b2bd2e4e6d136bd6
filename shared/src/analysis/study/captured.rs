//! Tells which memory was allocated while a CUDA graph was captured.
//!
//! A capture allocates from a pool of its own, which keeps its segments as long as the graph: each replay writes to the
//! same addresses. What stays from one capture to the next is therefore neither kept by mistake nor a step's memory.

use crate::analysis::study::sites::Rounds;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::trace::{Device, PoolId, Segment};

/// Address ranges of private pools, sorted.
pub(in crate::analysis) struct Captured<'a> {
    device: &'a Device,
    ranges: Vec<(u64, u64)>,
}

impl<'a> Captured<'a> {
    pub(in crate::analysis) fn of(device: &'a Device) -> Self {
        let segments = device.segments.segments.iter().filter(|segment| is_private(segment));
        let mut ranges: Vec<_> = segments.map(|one| (one.addr, one.addr.saturating_add(one.size_bytes))).collect();
        ranges.sort_unstable();
        Self { device, ranges }
    }

    /// Returns true if an allocation lies in a private pool.
    pub(in crate::analysis) fn has(&self, allocations: &Allocations, id: AllocationId) -> bool {
        if self.ranges.is_empty() {
            return false;
        }
        let addr = allocations.get(id, self.device).addr;
        let after = self.ranges.partition_point(|&(start, _)| start <= addr);
        after > 0 && addr < self.ranges[after - 1].1
    }

    /// Leaves out rounds that capture a graph; too few others are no repetition.
    pub(in crate::analysis) fn without_captures(
        &self,
        allocations: &Allocations,
        mut rounds: Rounds,
    ) -> Option<Rounds> {
        let before = rounds.rounds.len();
        rounds.rounds.retain(|round| {
            let mut born = (allocations.born_by(round.start)..allocations.born_by(round.end)).map(AllocationId);
            self.ranges.is_empty() || !born.any(|id| self.has(allocations, id))
        });
        (rounds.rounds.len() == before || rounds.rounds.len() >= Rounds::LEAST).then_some(rounds)
    }
}

/// Returns true if a segment belongs to the pool of a CUDA graph or to a `MemPool`.
pub(in crate::analysis) fn is_private(segment: &Segment) -> bool {
    segment.pool.is_some_and(|pool| pool != PoolId::default())
}
