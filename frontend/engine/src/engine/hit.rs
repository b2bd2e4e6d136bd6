//! Finds the allocation at a point of the timeline, the place of a moment, and the allocations next to another one.

use super::ready::Ready;
use frontend::ask::{AllocationKey, Hit, HitAllocation, MomentFacts, StepAllocation, Toward};
use shared::analysis::{AllocationId, Axis, Origin, stack_label};

/// Returns what lies under a point; of the moments that share a pixel, a picture shows the one with the highest live
/// bytes.
pub(super) fn hit(ready: Ready<'_>, axis: Axis, (x, units_per_px): (f64, f64), bytes: f64) -> Hit {
    let Ready { timeline, device, .. } = ready;
    let moment = timeline.moment_shown_at(device, axis, x, units_per_px);
    let found = if bytes < 0.0 { None } else { timeline.hit(moment, bytes as u64) };
    let allocation = found.map(|found| hit_allocation(ready, found.allocation, found.below_bytes));
    Hit { allocation, ..moment_hit(ready, moment) }
}

/// Returns the hit of a moment, without what lies under the point.
pub(super) fn moment_hit(ready: Ready<'_>, moment: u32) -> Hit {
    let (live_bytes, reserved_bytes) = (ready.timeline.live_at(moment), ready.timeline.reserved_at(moment));
    Hit { moment, time_us: ready.time_us(moment), live_bytes, reserved_bytes, ..Hit::default() }
}

/// Returns the hit for an allocation given by its key, `None` if the device has no such allocation.
pub(super) fn find(ready: Ready<'_>, key: AllocationKey, moment: u32) -> Option<Hit> {
    let id = find_id(ready, key)?;
    Some(found_hit(ready, id, moment.min(ready.timeline.events())))
}

/// Returns the allocation with a key, `None` if the device has none.
pub(super) fn find_id(ready: Ready<'_>, key: AllocationKey) -> Option<AllocationId> {
    let allocations = &ready.timeline.allocations;
    match key {
        AllocationKey::Initial(position) => ready.id(position).filter(|id| id.index() < allocations.initial_count()),
        // A key names the event that allocates, not the one that frees.
        AllocationKey::Event(event) => {
            let id = allocations.of_event(event as usize)?;
            (allocations.origin(id) == Origin::Event(event as usize)).then_some(id)
        }
    }
}

/// Returns the hit that a click on an allocation at a moment would produce.
pub(super) fn found_hit(ready: Ready<'_>, id: AllocationId, moment: u32) -> Hit {
    let below = ready.timeline.allocations.alive_at(moment).take_while(|(other, _)| *other < id);
    let below_bytes = below.map(|(_, size_bytes)| size_bytes).sum();
    Hit { allocation: Some(hit_allocation(ready, id, below_bytes)), ..moment_hit(ready, moment) }
}

pub(super) fn place(ready: Ready<'_>, axis: Axis, moment: u32) -> f64 {
    let x = |moment| ready.timeline.x_of_moment(ready.device, axis, moment);
    f64::midpoint(x(moment), x(moment.saturating_add(1)))
}

/// Returns the facts of a moment; one after the last event becomes the last one.
pub(super) fn moment_facts(ready: Ready<'_>, axis: Axis, moment: u32) -> MomentFacts {
    let moment = moment.min(ready.timeline.events());
    let Hit { time_us, live_bytes, reserved_bytes, .. } = moment_hit(ready, moment);
    MomentFacts { moment, position: place(ready, axis, moment), time_us, live_bytes, reserved_bytes }
}

fn hit_allocation(ready: Ready<'_>, id: AllocationId, below_bytes: u64) -> HitAllocation {
    let Ready { trace, device, timeline, .. } = ready;
    let allocation = timeline.allocations.get(id, device);
    let is_initial = timeline.allocations.is_initial(id);
    let died = (allocation.died != u32::MAX).then_some(allocation.died);
    let end = died.unwrap_or(timeline.events());
    let lifetime_us =
        ready.time_us(allocation.born).zip(ready.time_us(end)).map(|(born, died)| died.saturating_sub(born));
    HitAllocation {
        allocation: id.index() as u32,
        size_bytes: allocation.size_bytes,
        below_bytes,
        born: allocation.born,
        died,
        lifetime_us,
        is_initial,
        label: stack_label(trace, timeline.allocations.allocation_stack(id, device)),
    }
}

/// Returns the allocation next to another one, `None` if there is none in that direction.
pub(super) fn step(ready: Ready<'_>, ask: &StepAllocation) -> Option<Hit> {
    let allocations = &ready.timeline.allocations;
    let moment = ask.moment.min(ready.timeline.events());
    let size = |id: AllocationId| allocations.size_bytes_of(id);
    let Some(from) = ask.from.and_then(|row| ready.id(row)) else {
        let (id, _) = allocations.alive_at(moment).max_by_key(|(_, size_bytes)| *size_bytes)?;
        return Some(found_hit(ready, id, moment));
    };
    let is_seen = |id: &AllocationId| size(*id) >= ask.min_bytes && *id != from;
    let order = |id: AllocationId| (size(id), std::cmp::Reverse(id));
    let alive = || allocations.alive_at(moment).map(|(id, _)| id).filter(is_seen);
    let next = match ask.toward {
        Toward::Earlier => (0..from.index()).rev().map(AllocationId::from_index).find(is_seen),
        Toward::Later => (from.index() + 1..allocations.len()).map(AllocationId::from_index).find(is_seen),
        Toward::Above => alive().find(|id| *id > from),
        Toward::Below => alive().take_while(|id| *id < from).last(),
        Toward::Larger => alive().filter(|id| order(*id) > order(from)).min_by_key(|id| order(*id)),
        Toward::Smaller => alive().filter(|id| order(*id) < order(from)).max_by_key(|id| order(*id)),
    }?;
    let row = allocations.get(next, ready.device);
    // An allocation of another time is shown when it is born.
    let is_alive = (row.born..row.died).contains(&moment);
    Some(found_hit(ready, next, if is_alive { moment } else { row.born.max(1).min(row.died.saturating_sub(1)) }))
}
