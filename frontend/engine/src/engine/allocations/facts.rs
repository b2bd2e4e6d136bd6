//! Facts of allocations for optional columns.

use crate::engine::ready::Ready;
use frontend::ask::RowFacts;
use shared::allocator::Settings;
use shared::analysis::{AllocationId, Phase, pool_of, recorded_settings, stream_of};
use shared::trace::PoolId;

/// Returns the settings by which requests were rounded; those that are not modelled count as the default ones.
pub(super) fn rounding(ready: Ready<'_>) -> Settings {
    recorded_settings(ready.trace).unwrap_or_default()
}

/// Returns the facts of an allocation.
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

pub(super) fn stream(ready: Ready<'_>, id: AllocationId) -> Option<u64> {
    stream_of(ready.trace, ready.device, ready.timeline.allocations.origin(id))
}

pub(super) fn pool(ready: Ready<'_>, id: AllocationId) -> Option<PoolId> {
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
