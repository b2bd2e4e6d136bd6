//! Steps from allocation to allocation in the directions of the arrow keys.

use super::hit::found_hit;
use super::ready::Ready;
use frontend::ask::{StepAllocation, StepHit, Toward};
use shared::analysis::AllocationId;

/// Returns the allocation next to another one, `None` if there is none in that direction.
pub(super) fn step(ready: Ready<'_>, ask: &StepAllocation) -> StepHit {
    let allocations = &ready.timeline.allocations;
    let moment = ask.moment.min(ready.timeline.events());
    let size = |id: AllocationId| allocations.size_bytes_of(id);
    let Some(from) = ask.from.filter(|&row| (row as usize) < allocations.len()) else {
        let (id, _) = allocations.alive_at(moment).max_by_key(|(_, size_bytes)| *size_bytes)?;
        return Some(found_hit(ready, id, moment));
    };
    let from = AllocationId::from_index(from as usize);
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
