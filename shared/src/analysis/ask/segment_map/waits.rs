//! Finds frees that waited for another stream.
//!
//! ```text
//! event    0 alloc a   1 free_requested a   2 alloc b   3 free_completed a
//! a        in use at moments 1..2, pending at moments 2..4
//! ```
//!
//! A free that the very next event completes did not wait.
//! A completion without a request ends a free that has waited since before the trace.
//!
//! Cost: one pass over the events, with a map of the frees that wait.

use crate::analysis::track::allocations::{AllocationId, Allocations, Origin};
use crate::trace::{Action, BlockState, Device};
use hashbrown::HashMap;

/// Allocations whose frees wait, and since when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    /// Allocation, and the moment from which it waits until it dies; sorted by allocation.
    rows: Vec<(AllocationId, u32)>,
}

impl Waits {
    /// Finds the waits of a device; `allocations` are its lifetimes.
    pub(super) fn of(device: &Device, allocations: &Allocations) -> Self {
        let events = &device.events;
        let has = |wanted| events.actions().iter().any(|action| action == wanted);
        let mut rows = waiting_blocks(device, allocations);
        // If the trace has only one of the two actions, that one is the whole free.
        if !has(Action::FreeRequested) || !has(Action::FreeCompleted) {
            return Self { rows };
        }
        let of_free = |moment: u32| allocations.of_event(moment as usize - 1);
        let is_older = |moment| of_free(moment).is_some_and(|id| allocations.is_initial(id));
        // The map holds only the few frees that wait: nearly all are completed by the next event.
        let mut asked: HashMap<u64, u32> = HashMap::new();
        let mut last = None;
        for (moment, (action, addr)) in (1_u32..).zip(events.actions().iter().zip(events.addrs().iter())) {
            let requested = last.take();
            if (action, requested) == (Action::FreeCompleted, Some(addr)) {
                continue;
            }
            asked.extend(requested.map(|addr| (addr, moment - 1)));
            match action {
                Action::FreeRequested => last = Some(addr),
                Action::FreeCompleted => {
                    let since = asked.remove(&addr).or_else(|| is_older(moment).then_some(0));
                    rows.extend(since.and_then(|since| Some((of_free(moment)?, since))));
                }
                Action::Alloc if !asked.is_empty() => drop(asked.remove(&addr)),
                _ => {}
            }
        }
        asked.extend(last.map(|addr| (addr, events.len() as u32)));
        if !asked.is_empty() {
            let alive = allocations.alive_at(events.len() as u32).map(|(id, _)| id);
            rows.extend(alive.filter_map(|id| Some((id, asked.remove(&allocations.get(id, device).addr)?))));
        }
        rows.sort_unstable();
        rows.dedup_by_key(|row| row.0);
        Self { rows }
    }

    /// Returns true if an allocation that is alive at a moment waits then.
    pub(super) fn waits(&self, id: AllocationId, moment: u32) -> bool {
        let row = self.rows.binary_search_by_key(&id, |row| row.0);
        row.is_ok_and(|row| self.rows[row].1 <= moment)
    }
}

/// Returns the blocks that wait at the end and were freed before the trace.
fn waiting_blocks(device: &Device, allocations: &Allocations) -> Vec<(AllocationId, u32)> {
    let is_waiting = |id: &AllocationId| match allocations.origin(*id) {
        Origin::Block(block) => device.segments.blocks[block].state == BlockState::PendingFree,
        _ => false,
    };
    let initial = allocations.ids().take(allocations.initial_count());
    initial.filter(is_waiting).map(|id| (id, 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the moments at which any allocation waits.
    #[track_caller]
    fn check(trace: &str, expected: &[u32]) {
        let trace = text::parse(trace).unwrap();
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let waits = Waits::of(device, &allocations);
        let is_waiting = |&moment: &u32| allocations.alive_at(moment).any(|(id, _)| waits.waits(id, moment));
        assert_eq!((0..=device.events.len() as u32).filter(is_waiting).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_free_waits_from_its_request_to_its_completion() {
        check("alloc a 1\nfree_requested a\nalloc b 1\nfree_completed a", &[2, 3]);
        check("alloc a 1\nfree a\nalloc b 1", &[]);
    }

    #[test]
    fn a_free_may_still_wait_at_the_end() {
        check(
            "alloc b 1\nfree b\nalloc a 1\nfree_requested a\nalloc c 1\nsegment S 1KiB\nblock a 512 pending",
            &[5, 6],
        );
    }

    #[test]
    fn a_free_from_before_the_trace_waits_from_the_start() {
        check("alloc b 1\nsegment S 1KiB\nblock a 512 pending\nblock b 512", &[0, 1]);
        check("alloc b 1\nfree_completed a 1\nfree_requested b", &[0, 1, 3]);
    }

    #[test]
    fn without_completions_nothing_waits() {
        check("alloc a 1\nfree_requested a\nalloc b 1", &[]);
    }
}
