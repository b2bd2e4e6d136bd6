//! How much longer blocks are than their rounded requests.
//!
//! A block of the large pool keeps what is left of the free block that it was made from, if that is too short to be split
//! off. That is decided once, when it is handed out: what becomes free behind it later is not its own.
//!
//! ```text
//! before    │ free 3.5 MiB │ b        a 3 MiB: half a MiB is left, which a keeps
//! later     │ a 3.5 MiB    │ free     b is freed: a stays as long as it is
//! ```
//!
//! Cost: a step of a search tree for each large request and its free.

use crate::allocator::Settings;
use crate::analysis::segments_at::{is_of_segment, segments_at};
use crate::analysis::size_limit::SizeLimit;
use crate::analysis::{AllocationId, Allocations};
use crate::trace::{Action, Device, Trace};
use std::collections::BTreeMap;

/// What blocks have beyond their rounded requests, where it is anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rests {
    /// Allocations and bytes, by allocation.
    rows: Vec<(AllocationId, u64)>,
}

impl Rests {
    /// The rests of a device under its settings.
    pub(super) fn of(trace: &Trace, device: &Device, allocations: &Allocations, settings: &Settings) -> Self {
        // Then every block is split, whatever is left.
        if settings.expandable_segments {
            return Self::default();
        }
        let mut walk = Walk::at_start(trace, device, allocations, settings);
        let (mut births, mut deaths) = (allocations.births().peekable(), allocations.deaths().peekable());
        for (moment, action) in (1..).zip(device.events.actions().iter()) {
            if let Some((_, id)) = births.next_if(|birth| birth.0 == moment) {
                walk.insert(id, device.events.addrs().at(moment as usize - 1));
                walk.measure(id, device.events.addrs().at(moment as usize - 1));
            } else if let Some((_, id)) = deaths.next_if(|death| death.0 == moment) {
                walk.remove(id, device.events.addrs().at(moment as usize - 1));
            } else if is_of_segment(action) {
                walk.change_segments(moment as usize - 1);
            }
        }
        walk.rows.sort_unstable();
        Self { rows: walk.rows }
    }

    /// What the block of an allocation has beyond its rounded request.
    pub(super) fn bytes(&self, id: AllocationId) -> u64 {
        self.rows.binary_search_by_key(&id, |row| row.0).map_or(0, |row| self.rows[row].1)
    }
}

/// The large blocks and the segments of a moment, on the way through the trace.
struct Walk<'a> {
    device: &'a Device,
    allocations: &'a Allocations,
    settings: &'a Settings,
    limit: SizeLimit,
    /// Where segments that don't grow begin and end.
    segments: BTreeMap<u64, u64>,
    /// Where blocks of the large pool begin, and whose they are.
    blocks: BTreeMap<u64, AllocationId>,
    rows: Vec<(AllocationId, u64)>,
}

impl<'a> Walk<'a> {
    fn at_start(trace: &Trace, device: &'a Device, allocations: &'a Allocations, settings: &'a Settings) -> Self {
        let segments = segments_at(trace, device, 0);
        let segments = segments.iter().filter(|segment| !segment.is_expandable);
        let mut walk = Self {
            device,
            allocations,
            settings,
            limit: SizeLimit::of(device),
            segments: segments.map(|segment| (segment.addr, segment.end())).collect(),
            blocks: BTreeMap::new(),
            rows: Vec::new(),
        };
        let initial = || allocations.ids().take(allocations.initial_count());
        initial().for_each(|id| walk.insert(id, allocations.get(id, device).addr));
        initial().for_each(|id| walk.measure(id, allocations.get(id, device).addr));
        walk
    }

    /// The rounded request, if the block is of the large pool.
    fn large_bytes(&self, id: AllocationId) -> Option<u64> {
        let rounded = self.settings.block_bytes(self.allocations.size_bytes(id));
        (!Settings::is_small(rounded)).then_some(rounded)
    }

    fn insert(&mut self, id: AllocationId, addr: u64) {
        if self.large_bytes(id).is_some() {
            self.blocks.insert(addr, id);
        }
    }

    fn remove(&mut self, id: AllocationId, addr: u64) {
        // An address may have been handed out again without a free in the trace.
        if self.large_bytes(id).is_some() && self.blocks.get(&addr) == Some(&id) {
            self.blocks.remove(&addr);
        }
    }

    /// Looks how much room a block has that was just handed out.
    fn measure(&mut self, id: AllocationId, addr: u64) {
        let Some(rounded) = self.large_bytes(id) else { return };
        let segment_end = self.segments.range(..=addr).next_back().map_or(0, |(_, &end)| end);
        let next = addr.checked_add(1).and_then(|after| self.blocks.range(after..).next());
        let end = next.map_or(segment_end, |(&next, _)| next.min(segment_end));
        let rest = end.saturating_sub(addr).saturating_sub(rounded);
        if rest > 0 && self.settings.keeps_rest(rounded, rest) {
            self.rows.push((id, rest));
        }
    }

    fn change_segments(&mut self, index: usize) {
        let event = self.device.events.at(index);
        match event.action {
            Action::SegmentAlloc => {
                let end = event.addr.saturating_add(self.limit.cap(event.size_bytes));
                self.segments.insert(event.addr, end);
            }
            Action::SegmentFree => drop(self.segments.remove(&event.addr)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the rests in KiB of all allocations that have one, by their order.
    #[track_caller]
    fn check(trace: &str, expected: &[(usize, u64)]) {
        let trace = text::parse(trace).unwrap();
        let device = &trace.devices[0];
        let rests = Rests::of(&trace, device, &Allocations::pair(device), &Settings::default());
        let rows: Vec<_> = rests.rows.iter().map(|(id, bytes)| (id.index(), bytes >> 10)).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_rest_stays_when_its_neighbour_goes() {
        let program =
            "segment_alloc 0x10000000 20MiB\nalloc 0x10000000 3584KiB\nalloc 0x10380000 3MiB\nfree 0x10000000\n";
        check(&format!("{program}alloc 0x10000000 3MiB\nfree 0x10380000\nsegment 0x10000000 20MiB"), &[(2, 512)]);
    }

    #[test]
    fn more_than_a_mebibyte_is_split_off() {
        check("segment_alloc 0x10000000 20MiB\nalloc 0x10000000 18MiB\nsegment 0x10000000 20MiB", &[]);
        check("segment_alloc 0x10000000 20MiB\nalloc 0x10000000 19MiB\nsegment 0x10000000 20MiB", &[(0, 1024)]);
    }

    #[test]
    fn small_blocks_have_no_rest() {
        check("segment_alloc 0x200000 2MiB\nalloc 0x200000 1MiB\nsegment 0x200000 2MiB", &[]);
    }
}
