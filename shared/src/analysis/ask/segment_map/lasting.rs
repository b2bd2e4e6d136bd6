//! Holds what the maps of all moments share: settings, sizes, waits and the extents of expandable segments.

use super::rests::Rests;
use super::waits::Waits;
use crate::allocator::Settings;
use crate::analysis::ask::replay::recorded_settings;
use crate::analysis::track::allocations::{Allocation, Allocations, Origin};
use crate::analysis::track::pairing::SizeLimit;
use crate::analysis::track::segments_at::SegmentAt;
use crate::trace::{Action, BlockState, Device, Trace};
use std::ops::Range;

/// State that does not depend on the moment.
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
        final_blocks.sort_unstable();
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
    ranges.sort_unstable();
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
    use crate::analysis::track::segments_at::changes_of;
    use crate::trace::text;

    #[test]
    fn a_home_is_all_that_was_ever_mapped() {
        let trace = text::parse(
            "segment_map 0x1000 4096\nsegment_map 0x2000 4096\nsegment_unmap 0x1000 8192\nsegment_map 0x9000 4096",
        );
        let device = &trace.unwrap().devices[0];
        assert_eq!(homes(device, &changes_of(device)), [0x1000..0x3000, 0x9000..0xa000]);
    }
}
