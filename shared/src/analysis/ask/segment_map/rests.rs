//! Computes how much longer blocks are than their rounded requests.
//!
//! A block of the large pool keeps the rest of the free block that it was made from if the rest is too short to be
//! split off, or the block too large to be split (`max_split_size_mb`).
//! That is decided once, when it is handed out: memory that becomes free behind it later does not belong to it.
//!
//! ```text
//! before    │ free 3.5 MiB │ b        a 3 MiB: half a MiB is left, which a keeps
//! later     │ a 3.5 MiB    │ free     b is freed: a stays as long as it is
//! ```
//!
//! Idea: the addresses at which large blocks ever begin are known from the start, so that one bit for each finds the
//! next block at a moment.
//!
//! Cost: one look-up of the address per large allocation, and a few words of bits for its birth and its death.

use super::places::Places;
use crate::allocator::Settings;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::pairing::SizeLimit;
use crate::analysis::track::segments_at::segments_at;
use crate::trace::{Action, Device, Trace};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Bytes that blocks have beyond their rounded requests, if there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rests {
    /// Allocations and bytes, sorted by allocation.
    rows: Vec<(AllocationId, u64)>,
}

impl Rests {
    /// Computes the rests of a device under its settings; `changes` are the indices of its segment events.
    pub(super) fn of(
        trace: &Trace,
        device: &Device,
        allocations: &Allocations,
        settings: &Settings,
        changes: &[u32],
    ) -> Self {
        // Expandable segments split every block, whatever the rest.
        if settings.expandable_segments {
            return Self::default();
        }
        let mut walk = Walk::at_start(trace, device, allocations, settings);
        let is_large = |&(_, id): &(u32, AllocationId)| !Settings::is_small(allocations.size_bytes(id));
        let mut births = allocations.births().filter(is_large).peekable();
        let mut deaths = allocations.deaths().filter(is_large).peekable();
        let mut changes = changes.iter().peekable();
        loop {
            let born = births.peek().map_or(u32::MAX, |birth| birth.0);
            let died = deaths.peek().map_or(u32::MAX, |death| death.0);
            let changed = changes.peek().map_or(u32::MAX, |&&change| change + 1);
            // An event is only one of them.
            match born.min(died).min(changed) {
                u32::MAX => break,
                moment if moment == born => births.next().into_iter().for_each(|(_, id)| {
                    walk.insert(id);
                    walk.measure(id);
                }),
                moment if moment == died => deaths.next().into_iter().for_each(|(_, id)| walk.remove(id)),
                moment => {
                    changes.next();
                    walk.change_segments(moment as usize - 1);
                }
            }
        }
        walk.rows.sort_unstable();
        Self { rows: walk.rows }
    }

    /// Returns the bytes that the block of an allocation has beyond its rounded request.
    pub(super) fn bytes(&self, id: AllocationId) -> u64 {
        self.rows.binary_search_by_key(&id, |row| row.0).map_or(0, |row| self.rows[row].1)
    }
}

/// Large blocks and segments at a moment, updated on the way through the trace.
struct Walk<'a> {
    device: &'a Device,
    allocations: &'a Allocations,
    settings: &'a Settings,
    limit: SizeLimit,
    segments: BTreeMap<u64, u64>,
    addresses: Addresses,
    /// Starts of blocks of the large pool, as places among the addresses.
    blocks: Places,
    /// Allocation whose block begins at each address, valid while the place is taken.
    owners: Vec<AllocationId>,
    rows: Vec<(AllocationId, u64)>,
}

impl<'a> Walk<'a> {
    fn at_start(trace: &Trace, device: &'a Device, allocations: &'a Allocations, settings: &'a Settings) -> Self {
        let segments = segments_at(trace, device, 0);
        let segments = segments.iter().filter(|segment| !segment.is_expandable);
        let addresses = Addresses::of(device, allocations);
        let mut walk = Self {
            device,
            allocations,
            settings,
            limit: SizeLimit::of(device),
            segments: segments.map(|segment| (segment.addr, segment.end())).collect(),
            blocks: Places::new(addresses.sorted.len()),
            owners: vec![AllocationId::from_index(0); addresses.sorted.len()],
            addresses,
            rows: Vec::new(),
        };
        let initial = || allocations.ids().take(allocations.initial_count());
        initial().for_each(|id| walk.insert(id));
        initial().for_each(|id| walk.measure(id));
        walk
    }

    fn insert(&mut self, id: AllocationId) {
        if let Some(place) = self.addresses.place(id) {
            self.blocks.insert(place);
            self.owners[place as usize] = id;
        }
    }

    fn remove(&mut self, id: AllocationId) {
        // An address may have been handed out again without a free in the trace.
        if let Some(place) = self.addresses.place(id).filter(|&place| self.owners[place as usize] == id) {
            self.blocks.remove(place);
        }
    }

    /// Records the rest of a block that was just handed out, if it keeps one.
    fn measure(&mut self, id: AllocationId) {
        let Some(place) = self.addresses.place(id) else { return };
        let rounded = self.settings.block_bytes(self.allocations.size_bytes(id));
        let addr = self.addresses.sorted[place as usize];
        let segment_end = self.segments.range(..=addr).next_back().map_or(0, |(_, &end)| end);
        let next = self.blocks.after(place).map(|next| self.addresses.sorted[next as usize]);
        let end = next.map_or(segment_end, |next| next.min(segment_end));
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

/// Addresses at which blocks of the large pool ever begin.
struct Addresses {
    sorted: Vec<u64>,
    /// Position of each allocation's address in `sorted`; [`SMALL`] for blocks of the small pool.
    places: Vec<u32>,
}

const SMALL: u32 = u32::MAX;

impl Addresses {
    fn of(device: &Device, allocations: &Allocations) -> Self {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let found = allocations.ids().map(|id| {
            // A block exceeds the limit of the small pool only if its request does: rounding never crosses 1 MiB.
            if Settings::is_small(allocations.size_bytes(id)) {
                return SMALL;
            }
            let count = seen.len() as u32;
            *seen.entry(allocations.get(id, device).addr).or_insert(count)
        });
        let mut places: Vec<u32> = found.collect();
        let mut sorted: Vec<(u64, u32)> = seen.into_iter().collect();
        sorted.sort_unstable();
        let mut moved = vec![0; sorted.len()];
        (0..).zip(&sorted).for_each(|(place, &(_, seen))| moved[seen as usize] = place);
        places.iter_mut().filter(|place| **place != SMALL).for_each(|place| *place = moved[*place as usize]);
        Self { sorted: sorted.into_iter().map(|(addr, _)| addr).collect(), places }
    }

    fn place(&self, id: AllocationId) -> Option<u32> {
        Some(self.places[id.index()]).filter(|&place| place != SMALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::naive::{Random, random_trace};
    use crate::analysis::track::segments_at::{changes_of, is_of_segment};

    /// Computes the rests event by event, with a search tree of the blocks of the large pool.
    fn naive(
        trace: &Trace,
        device: &Device,
        allocations: &Allocations,
        settings: &Settings,
    ) -> Vec<(AllocationId, u64)> {
        let segments = segments_at(trace, device, 0);
        let segments = segments.iter().filter(|segment| !segment.is_expandable);
        let mut segments: BTreeMap<u64, u64> = segments.map(|segment| (segment.addr, segment.end())).collect();
        let mut rows = Vec::new();
        let addr = |id| allocations.get(id, device).addr;
        let rounded = |id| settings.block_bytes(allocations.size_bytes(id));
        let is_large = |id: &AllocationId| !Settings::is_small(rounded(*id));
        let initial = || allocations.ids().take(allocations.initial_count()).filter(is_large);
        let mut blocks: BTreeMap<u64, AllocationId> = initial().map(|id| (addr(id), id)).collect();
        let mut measure = |id, segments: &BTreeMap<u64, u64>, blocks: &BTreeMap<u64, AllocationId>| {
            let end = segments.range(..=addr(id)).next_back().map_or(0, |(_, &end)| end);
            let next = addr(id).checked_add(1).and_then(|after| blocks.range(after..).next());
            let end = next.map_or(end, |(&next, _)| next.min(end));
            let rest = end.saturating_sub(addr(id)).saturating_sub(rounded(id));
            if rest > 0 && settings.keeps_rest(rounded(id), rest) {
                rows.push((id, rest));
            }
        };
        initial().for_each(|id| measure(id, &segments, &blocks));
        for (moment, action) in (1..).zip(device.events.actions().iter()) {
            let event = device.events.at(moment as usize - 1);
            for (_, id) in allocations.births().filter(|birth| birth.0 == moment && is_large(&birth.1)) {
                blocks.insert(addr(id), id);
                measure(id, &segments, &blocks);
            }
            for (_, id) in allocations.deaths().filter(|death| death.0 == moment && is_large(&death.1)) {
                if blocks.get(&addr(id)) == Some(&id) {
                    blocks.remove(&addr(id));
                }
            }
            match action {
                Action::SegmentAlloc => drop(segments.insert(event.addr, event.addr + event.size_bytes)),
                Action::SegmentFree => drop(segments.remove(&event.addr)),
                _ => assert!(!is_of_segment(action) || action >= Action::SegmentMap),
            }
        }
        rows.sort_unstable();
        rows
    }

    /// Checks a trace against the naive implementation; returns the number of rests.
    #[track_caller]
    fn check_naively(sample: &Sample, settings: &Settings) -> usize {
        let (trace, device, allocations) = (&sample.trace, sample.device(), sample.allocations());
        let found = Rests::of(trace, device, allocations, settings, &changes_of(device)).rows;
        assert_eq!(found, naive(trace, device, allocations, settings));
        found.len()
    }

    #[test]
    fn rests_agree_with_a_search_tree() {
        let mut count = 0;
        for seed in 0..60 {
            check_naively(&Sample::new(random_trace(seed, 200)), &Settings::default());
            let mut random = Random::new(seed);
            let mut lines = String::new();
            for index in 0..200 {
                // Blocks of 0.5 to 6 MiB in segments of 20 MiB that come and go: addresses are taken again and overlap.
                let (segment, place) = (random.below(4) << 32, random.below(38) << 19);
                let addr = 0x1000_0000 + segment + place;
                lines += &match random.below(12) {
                    0 => format!("segment_alloc {:#x} 20MiB\n", addr - place),
                    1 => format!("segment_free {:#x} 20MiB\n", addr - place),
                    2..8 => format!("alloc {addr:#x} {}KiB\n", 512 * (1 + random.below(12)) - index % 2),
                    _ => format!("free_completed {addr:#x} 1MiB\n"),
                };
            }
            let sample = Sample::of(&lines);
            count += check_naively(&sample, &Settings::default());
            let divided = Settings { roundup_power2_divisions: [4; 16], ..Settings::default() };
            count += check_naively(&sample, &divided);
        }
        assert!(count > 100, "{count} rests are too few to tell");
    }

    /// Checks the rests of all allocations that have one, as indices and KiB.
    #[track_caller]
    fn check(trace: &str, expected: &[(usize, u64)]) {
        let sample = Sample::of(trace);
        let (device, allocations) = (sample.device(), sample.allocations());
        let rests = Rests::of(&sample.trace, device, allocations, &Settings::default(), &changes_of(device));
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
    fn more_than_a_mebibyte_is_split_off_and_all_of_a_small_block() {
        check("segment_alloc 0x10000000 20MiB\nalloc 0x10000000 18MiB\nsegment 0x10000000 20MiB", &[]);
        check("segment_alloc 0x10000000 20MiB\nalloc 0x10000000 19MiB\nsegment 0x10000000 20MiB", &[(0, 1024)]);
        check("segment_alloc 0x200000 2MiB\nalloc 0x200000 1MiB\nsegment 0x200000 2MiB", &[]);
    }
}
