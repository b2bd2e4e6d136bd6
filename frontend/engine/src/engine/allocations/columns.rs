//! Columns of tables of allocations: the facts that they show, and the numbers by which they sort.

use super::cache::Key;
use crate::engine::ready::Ready;
use frontend::ask::{Column, RowFacts};
use shared::allocator::Settings;
use shared::analysis::{AllocationId, Phase, pool_of, recorded_settings, stack_title, stream_of};
use shared::base::ShortSort;
use shared::trace::{PoolId, StackId, Trace};

/// Returns the settings by which requests were rounded; those that are not modelled count as the default ones.
pub(super) fn rounding(ready: Ready<'_>) -> Settings {
    recorded_settings(ready.trace).unwrap_or_default()
}

pub(super) fn facts(ready: Ready<'_>, rounding: &Settings, id: AllocationId) -> RowFacts {
    let allocation = ready.timeline.allocations.get(id, ready.device);
    RowFacts {
        died: (allocation.died != u32::MAX).then_some(allocation.died),
        addr: allocation.addr,
        stream: stream(ready, id),
        pool: pool(ready, id).map(|PoolId(capture, handle)| (capture, handle)),
        phase: phase(ready, id),
        step: step(ready, id),
        rounded_bytes: rounding.block_bytes(allocation.size_bytes),
    }
}

fn stream(ready: Ready<'_>, id: AllocationId) -> Option<u64> {
    stream_of(ready.trace, ready.device, ready.timeline.allocations.origin(id))
}

fn pool(ready: Ready<'_>, id: AllocationId) -> Option<PoolId> {
    pool_of(ready.trace, ready.device, ready.timeline.allocations.origin(id))
}

/// Returns the phase in which an allocation of the trace was made.
pub(super) fn phase(ready: Ready<'_>, id: AllocationId) -> Option<Phase> {
    let (allocations, device) = (&ready.timeline.allocations, ready.device);
    let stack = allocations.allocation_stack(id, device);
    let phase = || ready.studied().phases.of_birth(allocations.get(id, device).born, stack);
    (!allocations.is_initial(id)).then(phase)
}

/// Returns the number of the step in which an allocation of the trace was made, if steps are known.
pub(super) fn step(ready: Ready<'_>, id: AllocationId) -> Option<u32> {
    let allocations = &ready.timeline.allocations;
    let steps = ready.studied().steps.as_ref().filter(|_| !allocations.is_initial(id))?;
    steps.of_moment(allocations.get(id, ready.device).born).map(|step| step as u32)
}

impl Key {
    pub(super) fn new(ready: Ready<'_>, ids: &[AllocationId], column: Column) -> Self {
        let title_ranks = if column == Column::Title { title_ranks(ready, ids) } else { Vec::new() };
        Self { column, rounding: rounding(ready), title_ranks }
    }

    pub(super) fn of(&self, ready: Ready<'_>, id: AllocationId) -> u64 {
        let allocations = &ready.timeline.allocations;
        match self.column {
            Column::Bytes | Column::Count => allocations.size_bytes_of(id),
            // Handles are in the order of births.
            Column::Born => id.index() as u64,
            Column::Lifetime => {
                let row = allocations.get(id, ready.device);
                u64::from(row.died.min(ready.timeline.events() + 1) - row.born)
            }
            Column::Category => ready.categories()[id.index()] as u64,
            Column::Died => u64::from(allocations.get(id, ready.device).died),
            Column::Address => allocations.get(id, ready.device).addr,
            // Allocations without the fact come first.
            Column::Phase => phase(ready, id).map_or(0, |phase| phase as u64 + 1),
            Column::Step => step(ready, id).map_or(0, |step| u64::from(step) + 1),
            Column::Rounded => self.rounding.block_bytes(allocations.size_bytes_of(id)),
            Column::Stream => stream(ready, id).map_or(0, |stream| stream.saturating_add(1)),
            Column::Pool => pool(ready, id)
                .map_or(0, |PoolId(capture, handle)| (capture << 32).saturating_add(handle).saturating_add(1)),
            Column::Title => u64::from(self.title_ranks[allocations.allocation_stack(id, ready.device).index()]),
        }
    }
}

/// Returns the rank of each stack's title; only stacks are compared, of which there are far fewer than allocations.
fn title_ranks(ready: Ready<'_>, ids: &[AllocationId]) -> Vec<u32> {
    let mut is_used = vec![false; ready.trace.stacks.len()];
    for &id in ids {
        is_used[ready.timeline.allocations.allocation_stack(id, ready.device).index()] = true;
    }
    let used = (0..is_used.len()).filter(|&stack| is_used[stack]);
    let mut titles: Vec<(String, usize)> =
        used.map(|stack| (title(ready.trace, StackId::from_index(stack)).to_lowercase(), stack)).collect();
    titles.short_sort_by(Ord::cmp);
    let mut ranks = vec![0; is_used.len()];
    let mut rank = 0;
    for (position, (title, stack)) in titles.iter().enumerate() {
        rank += u32::from(position > 0 && titles[position - 1].0 != *title);
        ranks[*stack] = rank;
    }
    ranks
}

/// Returns the title of a stack in tables.
pub(super) fn title(trace: &Trace, stack: StackId) -> String {
    stack_title(trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
}
