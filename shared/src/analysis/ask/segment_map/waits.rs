//! Finds frees that waited for another stream, and holds them with what else the maps of all moments share: settings,
//! sizes and the extents of expandable segments.
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

use super::rests::Rests;
use crate::allocator::Settings;
use crate::analysis::ask::replay::recorded_settings;
use crate::analysis::track::allocations::{Allocation, AllocationId, Allocations, Origin};
use crate::analysis::track::pairing::SizeLimit;
use crate::analysis::track::segments_at::SegmentAt;
use crate::base::ShortSort;
use crate::trace::{Action, BlockState, Device, Trace};
use hashbrown::HashMap;
use std::ops::Range;

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

#[derive(Clone, Debug)]
pub(super) struct Lasting {
    /// Recorded settings; PyTorch's defaults if one of them is not modelled.
    pub(super) settings: Settings,
    pub(super) waits: Waits,
    pub(super) rests: Rests,
    pub(super) limit: SizeLimit,
    /// Addresses and sizes of the blocks in use at the end, sorted by address.
    final_blocks: Vec<(u64, u64)>,
    /// Addresses that were ever mapped into expandable segments, in ranges that don't touch.
    homes: Vec<Range<u64>>,
}

impl Lasting {
    /// Collects the state of a device; `changes` are the indices of its segment events.
    pub(super) fn of(trace: &Trace, device: &Device, allocations: &Allocations, changes: &[u32]) -> Self {
        let used = device.segments.blocks.iter().filter(|block| block.state != BlockState::Inactive);
        let mut final_blocks: Vec<_> = used.map(|block| (block.addr, block.size_bytes)).collect();
        final_blocks.short_sort_by(Ord::cmp);
        let settings = recorded_settings(trace).unwrap_or_default();
        Self {
            rests: Rests::of(trace, device, allocations, &settings, changes),
            settings,
            waits: Waits::of(device, allocations),
            limit: SizeLimit::of(device),
            final_blocks,
            homes: homes(device, changes),
        }
    }

    /// Returns the size of an allocation's block, if the final state tells it.
    pub(super) fn known_bytes(&self, allocation: &Allocation, device: &Device) -> Option<u64> {
        if let Origin::Block(block) = allocation.origin {
            return Some(device.segments.blocks[block].size_bytes);
        }
        if allocation.died != u32::MAX {
            return None;
        }
        let found = self.final_blocks.binary_search_by_key(&allocation.addr, |block| block.0);
        found.ok().map(|index| self.final_blocks[index].1)
    }

    /// Returns the start of the expandable segment that a mapped range belongs to, for any other segment its address.
    pub(super) fn home(&self, segment: &SegmentAt) -> u64 {
        if !segment.is_expandable {
            return segment.addr;
        }
        let after = self.homes.partition_point(|home| home.start <= segment.addr);
        let home = self.homes[..after].last().filter(|home| home.contains(&segment.addr));
        home.map_or(segment.addr, |home| home.start)
    }
}

fn homes(device: &Device, changes: &[u32]) -> Vec<Range<u64>> {
    let is_expandable = |segment: &&crate::trace::Segment| segment.is_expandable == Some(true);
    let at_end = device.segments.segments.iter().filter(is_expandable);
    let mut ranges: Vec<_> = at_end.map(|segment| (segment.addr, segment.size_bytes)).collect();
    let is_map = |action| matches!(action, Action::SegmentMap | Action::SegmentUnmap);
    let moved = changes.iter().map(|&change| device.events.at(change as usize)).filter(|event| is_map(event.action));
    ranges.extend(moved.map(|event| (event.addr, event.size_bytes)));
    ranges.short_sort_by(Ord::cmp);
    let mut homes: Vec<Range<u64>> = Vec::new();
    for (start, size_bytes) in ranges {
        let end = start.saturating_add(size_bytes);
        match homes.last_mut().filter(|home| start <= home.end) {
            Some(home) => home.end = home.end.max(end),
            None => homes.push(start..end),
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::track::segments_at::changes_of;

    /// Checks the moments at which any allocation waits.
    #[track_caller]
    fn check(trace: &str, expected: &[u32]) {
        let sample = Sample::of(trace);
        let (device, allocations) = (sample.device(), sample.allocations());
        let waits = Waits::of(device, allocations);
        let is_waiting = |&moment: &u32| allocations.alive_at(moment).any(|(id, _)| waits.waits(id, moment));
        assert_eq!((0..=device.events.len() as u32).filter(is_waiting).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_free_waits_from_its_request_to_its_completion() {
        check("alloc a 1\nfree_requested a\nalloc b 1\nfree_completed a", &[2, 3]);
        check("alloc a 1\nfree a\nalloc b 1", &[]);
        let to_the_end =
            "alloc b 1\nfree b\nalloc a 1\nfree_requested a\nalloc c 1\nsegment S 1KiB\nblock a 512 pending";
        check(to_the_end, &[5, 6]);
        let from_before = "alloc b 1\nsegment S 1KiB\nblock a 512 pending\nblock b 512";
        check(from_before, &[0, 1]);
        check("alloc b 1\nfree_completed a 1\nfree_requested b", &[0, 1, 3]);
        let without_completions = "alloc a 1\nfree_requested a\nalloc b 1";
        check(without_completions, &[]);
    }

    #[test]
    fn a_home_is_all_that_was_ever_mapped() {
        let sample = Sample::of(
            "segment_map 0x1000 4096\nsegment_map 0x2000 4096\nsegment_unmap 0x1000 8192\nsegment_map 0x9000 4096",
        );
        let device = sample.device();
        assert_eq!(homes(device, &changes_of(device)), [0x1000..0x3000, 0x9000..0xa000]);
    }
}
