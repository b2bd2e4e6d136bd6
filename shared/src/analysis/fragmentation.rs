//! What the reserved bytes of a moment are: in use, or free and why so.
//!
//! ```text
//! segment, 20 MiB  │ a 6 MiB │·│  free 9 MiB  │ b 4 MiB │
//! segment, 10 MiB  │             free                   │
//!                            └ the rest of a's block, too small to be split off
//! live 10 MiB, unsplit 1 MiB, free in used segments 9 MiB, free segments 10 MiB; largest free range 10 MiB
//! ```
//!
//! Cost: linear in the events of segments after the moment, and sorting what is alive there.

use super::segments_at::{SegmentAt, segments_at};
use super::{Allocations, Study};
use crate::trace::{Device, PoolId, SegmentType};

/// PyTorch hands out blocks in multiples of this.
const ROUNDING_BYTES: u64 = 512;

/// In the large pool a remainder of up to this many bytes stays a part of the block.
const LEAST_SPLIT_BYTES: u64 = 1 << 20;

/// The reserved bytes of one moment, taken apart.
///
/// The parts add up to the reserved bytes, unless frees or segments are missing from the trace.
/// Blocks are rounded to 512 bytes here; `roundup_power2_divisions`, which rounds further, counts as free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Bytes that were asked for, of allocations that lie in these segments.
    pub live_bytes: u64,
    /// What rounding to 512 bytes has added to them.
    pub rounding_bytes: u64,
    /// Remainders of up to 1 MiB in the large pool, which are never split off.
    pub unsplit_bytes: u64,
    /// Free bytes in segments in which something is alive: CUDA can't have these back.
    pub free_in_used_bytes: u64,
    /// Bytes of segments in which nothing is alive: PyTorch's cache.
    pub free_segment_bytes: u64,
    /// How many of the free bytes belong to private pools, which nobody else may use.
    pub private_free_bytes: u64,
    /// The longest free range within a segment: more can't be given without asking CUDA.
    pub largest_free_bytes: u64,
    /// The segments in which something is alive.
    pub used_segments: u64,
    /// All segments.
    pub segments: u64,
}

impl Fragmentation {
    /// Takes the reserved bytes of a moment apart.
    pub fn at(study: &Study<'_>, moment: u32) -> Self {
        let pool = |event: &crate::trace::Event| -> Option<PoolId> { study.trace.contexts.get(event.context).pool };
        let segments = segments_at(study.device, moment, pool);
        let blocks = blocks_at(study.device, &study.timeline.allocations, moment);
        let mut parts = Self { segments: segments.len() as u64, ..Self::default() };
        let mut rest = blocks.as_slice();
        for segment in &segments {
            let first = rest.partition_point(|block| block.0 < segment.addr);
            let end = rest.partition_point(|block| block.0 < segment.end());
            parts.add(segment, &rest[first..end.max(first)]);
            rest = &rest[end.max(first)..];
        }
        parts
    }

    /// Free bytes of all kinds.
    pub fn free_bytes(&self) -> u64 {
        self.free_in_used_bytes + self.free_segment_bytes
    }

    fn add(&mut self, segment: &SegmentAt, blocks: &[(u64, u64)]) {
        self.reserved_bytes = self.reserved_bytes.saturating_add(segment.size_bytes);
        self.used_segments += u64::from(!blocks.is_empty());
        let end = segment.end();
        let never_splits = segment.segment_type == SegmentType::Large && !segment.is_expandable;
        let mut free = 0_u64;
        let mut at = segment.addr;
        for (index, &(addr, size_bytes)) in blocks.iter().chain(&[(end, 0)]).enumerate() {
            let gap = addr.saturating_sub(at);
            if index > 0 && gap <= LEAST_SPLIT_BYTES && never_splits {
                self.unsplit_bytes += gap;
            } else {
                free += gap;
                self.largest_free_bytes = self.largest_free_bytes.max(gap);
            }
            let rounded = size_bytes.saturating_add(ROUNDING_BYTES - 1) / ROUNDING_BYTES * ROUNDING_BYTES;
            let within = rounded.min(end.saturating_sub(addr));
            self.live_bytes = self.live_bytes.saturating_add(size_bytes.min(within));
            self.rounding_bytes += within.saturating_sub(size_bytes);
            at = at.max(addr.saturating_add(within));
        }
        let part = if blocks.is_empty() { &mut self.free_segment_bytes } else { &mut self.free_in_used_bytes };
        *part = part.saturating_add(free);
        self.private_free_bytes += if segment.is_private { free } else { 0 };
    }
}

/// Address and size of what is alive at a moment, by address.
fn blocks_at(device: &Device, allocations: &Allocations, moment: u32) -> Vec<(u64, u64)> {
    let alive = allocations.alive_at(moment);
    let mut blocks: Vec<_> = alive.map(|(id, size_bytes)| (allocations.get(id, device).addr, size_bytes)).collect();
    blocks.sort_unstable();
    blocks
}

#[cfg(test)]
mod tests {
    use super::super::Timeline;
    use super::*;
    use crate::trace::text;

    fn at(trace: &str, moment: u32) -> Fragmentation {
        let trace = text::parse(trace).unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        Fragmentation::at(&Study::new(&trace, &trace.devices[0], &timeline), moment)
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
        assert_eq!((parts.largest_free_bytes, parts.used_segments, parts.segments), (10 * MIB, 1, 2));
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
        let parts = at(
            "segment_alloc 0x10000000 20MiB\nalloc 0x10000000 19MiB\nsegment 0x10000000 20MiB\nblock 0x10000000 20MiB",
            2,
        );
        assert_eq!((parts.unsplit_bytes, parts.free_bytes(), parts.largest_free_bytes), (MIB, 0, 0));
    }
}
