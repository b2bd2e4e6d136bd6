//! Splits the reserved bytes of a moment into those in use and those free, by the reason why they are free.
//!
//! ```text
//! segment, 20 MiB  │ a 6 MiB │·│  free 9 MiB  │ b 4 MiB │
//! segment, 10 MiB  │             free                   │
//!                            └ the rest of a's block, too small to be split off
//! live 10 MiB, unsplit 1 MiB, free in used segments 9 MiB, free segments 10 MiB; largest free range 10 MiB
//! ```
//!
//! Cost: that of a [`SegmentMap`], and linear in its blocks.

use crate::analysis::ask::segment_map::{MapBlock, MapSegment, SegmentMap};
use crate::analysis::study::studied::Study;
use crate::trace::{BlockState, SegmentType};
use serde::{Deserialize, Serialize};

/// Breakdown of the reserved bytes of one moment.
///
/// Invariant: live, rounding, unsplit and the two kinds of free bytes add up to the reserved bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragmentation {
    pub reserved_bytes: u64,
    pub live_bytes: u64,
    /// Part of the live bytes that is freed but may still be in use on another stream.
    pub pending_bytes: u64,
    /// Bytes that rounding adds to requests, to multiples of 512 bytes or as `roundup_power2_divisions` says.
    pub rounding_bytes: u64,
    /// Remainders of up to 1 MiB in the large pool, which are never split off.
    pub unsplit_bytes: u64,
    /// Free bytes in segments with live allocations; a `cudaMalloc` segment cannot be returned to CUDA in part.
    pub free_in_used_bytes: u64,
    /// Bytes of segments without live allocations: PyTorch's cache.
    pub free_segment_bytes: u64,
    /// Part of the free bytes that belongs to private pools and is available to no other pool.
    pub private_free_bytes: u64,
    /// Bytes that `torch.cuda.empty_cache()` would return: free segments, and free pages of expandable segments.
    ///
    /// Private pools are left out, because they return nothing while their graph or `MemPool` exists.
    pub releasable_bytes: u64,
    /// Longest free range within a segment; larger requests need memory from CUDA.
    pub largest_free_bytes: u64,
    pub used_segments: u64,
    pub segments: u64,
}

impl Fragmentation {
    pub fn at(study: &Study<'_>, moment: u32) -> Self {
        Self::of(&SegmentMap::at(study.trace, study.device, &study.timeline.allocations, moment))
    }

    pub fn of(map: &SegmentMap) -> Self {
        let mut parts = Self { segments: map.segments.len() as u64, ..Self::default() };
        map.segments.iter().for_each(|segment| parts.add(map, segment));
        parts
    }

    pub fn free_bytes(&self) -> u64 {
        self.free_in_used_bytes + self.free_segment_bytes
    }

    fn add(&mut self, map: &SegmentMap, segment: &MapSegment) {
        let size_bytes = segment.at.end() - segment.at.addr;
        let free_bytes = size_bytes - segment.used_bytes;
        self.reserved_bytes = self.reserved_bytes.saturating_add(size_bytes);
        let is_used = segment.used_bytes > 0;
        self.used_segments += u64::from(is_used);
        let part = if is_used { &mut self.free_in_used_bytes } else { &mut self.free_segment_bytes };
        *part = part.saturating_add(free_bytes);
        if segment.at.is_private() {
            self.private_free_bytes = self.private_free_bytes.saturating_add(free_bytes);
        } else if segment.at.is_expandable {
            let unit = map.settings.unit_bytes(segment.at.segment_type == SegmentType::Small);
            let free = map.blocks_of(segment).iter().filter(|block| block.is_free());
            self.releasable_bytes += free.map(|block| whole_units(block, segment.home, unit)).sum::<u64>();
        } else if !is_used {
            self.releasable_bytes = self.releasable_bytes.saturating_add(size_bytes);
        }
        self.largest_free_bytes = self.largest_free_bytes.max(segment.largest_free_bytes);
        map.blocks_of(segment).iter().filter(|block| !block.is_free()).for_each(|block| self.add_block(block));
    }

    fn add_block(&mut self, block: &MapBlock) {
        self.live_bytes = self.live_bytes.saturating_add(block.requested_bytes);
        self.rounding_bytes += block.rounding_bytes();
        self.unsplit_bytes += block.rest_bytes;
        if block.state == BlockState::PendingFree {
            self.pending_bytes = self.pending_bytes.saturating_add(block.requested_bytes);
        }
    }
}

/// Returns the bytes of the pages that lie completely within a free block of an expandable segment.
///
/// Pages have `unit` bytes and are counted from `home`, where the expandable segment begins.
fn whole_units(block: &MapBlock, home: u64, unit: u64) -> u64 {
    let first = (block.addr - home).div_ceil(unit);
    let end = (block.addr - home + block.size_bytes) / unit;
    end.saturating_sub(first) * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;
    use crate::trace::{Trace, text};

    fn at(trace: &str, moment: u32) -> Fragmentation {
        at_moment(text::parse(trace).unwrap(), moment)
    }

    fn at_moment(trace: Trace, moment: u32) -> Fragmentation {
        Fragmentation::at(&Sample::new(trace).study(), moment)
    }

    const MIB: u64 = 1 << 20;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        segment_alloc 0x20000000 10MiB
        alloc 0x10000000 6290956
        alloc 0x11000000 4MiB
        free 0x11000000 4MiB
        segment_free 0x20000000 10MiB
        segment 0x10000000 20MiB
        block 0x10000000 6MiB requested=6290956
    ";

    #[test]
    fn parts_of_the_worked_example() {
        let parts = at(TRACE, 4);
        assert_eq!(parts.reserved_bytes, 30 * MIB);
        assert_eq!((parts.live_bytes, parts.rounding_bytes), (6_290_956 + 4 * MIB, 500));
        assert_eq!((parts.free_in_used_bytes, parts.free_segment_bytes), (10 * MIB, 10 * MIB));
        assert_eq!(parts.releasable_bytes, 10 * MIB);
        assert_eq!((parts.largest_free_bytes, parts.used_segments, parts.segments), (10 * MIB, 1, 2));
    }

    #[test]
    fn a_pending_free_is_live() {
        let parts = at(
            "segment_alloc 0x200000 2MiB\nalloc 0x200000 700\nfree_requested 0x200000\nalloc 0x200400 5\n\
                        free_completed 0x200000 700\nsegment 0x200000 2MiB\nblock 0x200400 512 requested=5",
            4,
        );
        assert_eq!((parts.live_bytes, parts.pending_bytes, parts.rounding_bytes), (705, 700, 324 + 507));
    }

    #[test]
    fn rounding_follows_the_recorded_divisions() {
        let mut trace = text::parse(
            "segment_alloc 0x10000000 20MiB\nalloc 0x10000000 5242881\nfree 0x10000000\nsegment 0x10000000 20MiB",
        )
        .unwrap();
        let table = crate::trace::Setting::Table(vec![("4".to_owned(), 4)]);
        trace.settings.entries.push(("roundup_power2_divisions".to_owned(), table));
        let parts = at_moment(trace, 2);
        assert_eq!((parts.rounding_bytes, parts.unsplit_bytes), (MIB - 1, 0));
    }

    #[test]
    fn only_whole_pages_of_expandable_segments_go_back() {
        let mut trace = text::parse(
            "segment_map 0x40000000 40MiB\nsegment_map 0x42800000 20MiB\nalloc 0x40000000 3MiB\nsegment 0x40000000 60MiB\n\
             block 0x40000000 3MiB",
        )
        .unwrap();
        trace.devices[0].segments.segments[0].is_expandable = Some(true);
        let parts = at_moment(trace, 3);
        assert_eq!((parts.releasable_bytes, parts.free_in_used_bytes), (40 * MIB, 57 * MIB));
    }

    #[test]
    fn what_was_freed_is_free() {
        let parts = at(TRACE, 7);
        assert_eq!((parts.reserved_bytes, parts.free_in_used_bytes), (20 * MIB, 14 * MIB));
        assert_eq!(at(TRACE, 2).free_segment_bytes, 30 * MIB);
        assert_eq!(at(TRACE, 0), Fragmentation::default());
    }

    #[test]
    fn a_small_rest_of_a_large_block_is_not_split() {
        let lines =
            "segment_alloc 0x10000000 20MiB\nalloc 0x10000000 19MiB\nsegment 0x10000000 20MiB\nblock 0x10000000 20MiB";
        let parts = at(lines, 2);
        assert_eq!((parts.unsplit_bytes, parts.free_bytes(), parts.largest_free_bytes), (MIB, 0, 0));
    }
}
