//! Reconstructs the segments and blocks that existed before the trace.
//!
//! Idea: the final segments are wound back through the trace.
//! A block that is live at the end without an `alloc` existed before; so did one that is freed without an `alloc`.
//! The memory between these blocks is free.
//!
//! ```text
//! final       S |AAAA|....|BB..|     T |CCCC|        A has no alloc, B has one
//! trace       free x (in S), segment_alloc T, alloc b, alloc c
//! initial     S |AAAA|xx......|                      T does not exist, x is as long as its rounded request
//! ```

use crate::base::ShortSort;
use std::ops::Range;

use hashbrown::HashMap;

use crate::allocator::{LAST_ADDR, PlacedBlock, PoolKey};
use crate::analysis::track::allocations::{Allocations, Origin};
use crate::trace::{Action, Device, PoolId, SegmentType, Trace};

/// Size of a segment of the small pool, 2 MiB; segments of the large pool never have it.
const SMALL_SEGMENT: u64 = 2 << 20;
/// Largest rest that the large pool does not split off, 1 MiB: it belongs to the block before it.
const LEAST_LARGE_REST: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InitialSegment {
    pub(super) range: Range<u64>,
    pub(super) stream: u64,
    pub(super) pool: Option<PoolId>,
    pub(super) is_small: bool,
    pub(super) is_expandable: bool,
    pub(super) blocks: Vec<PlacedBlock>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Initial {
    pub(super) segments: Vec<InitialSegment>,
    /// Number of blocks whose size is derived from the request, or that lie in no segment.
    pub(super) guessed_blocks: u64,
}

impl Initial {
    pub(super) fn of(trace: &Trace, device: &Device, allocations: &Allocations) -> Self {
        let mut initial = Self { segments: wound_back(trace, device), guessed_blocks: 0 };
        initial.segments.short_sort_by_key(|segment| (segment.range.start, segment.range.end));
        let mut blocks = blocks_before(device, allocations);
        blocks.short_sort_by_key(|block| block.addr);
        for block in blocks {
            initial.guessed_blocks += u64::from(block.size_bytes == 0);
            let after = initial.segments.partition_point(|segment| segment.range.start <= block.addr);
            match initial.segments[..after].last_mut().filter(|segment| segment.range.contains(&block.addr)) {
                Some(segment) => segment.blocks.push(block),
                None => initial.guessed_blocks += u64::from(block.size_bytes != 0),
            }
        }
        initial.segments.iter_mut().for_each(fill_rests);
        initial
    }

    /// Returns the addresses from the first segment to the end of the last.
    pub(super) fn range(&self) -> Range<u64> {
        let start = self.segments.first().map_or(0, |segment| segment.range.start);
        start..self.segments.iter().map(|segment| segment.range.end).max().unwrap_or(0)
    }

    pub(super) fn reserved_bytes(&self) -> u64 {
        self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.range.end - segment.range.start))
    }
}

/// Returns the blocks that are older than the trace; a size of 0 means that it is unknown.
fn blocks_before(device: &Device, allocations: &Allocations) -> Vec<PlacedBlock> {
    let initial = (0..allocations.len()).map(crate::analysis::AllocationId::from_index);
    let initial = initial.take_while(|&id| allocations.is_initial(id));
    let block = |id| {
        let allocation = allocations.get(id, device);
        let size_bytes = match allocation.origin {
            Origin::Block(index) => device.segments.blocks[index].size_bytes,
            Origin::UnmatchedFree(_) | Origin::Event(_) => 0,
        };
        PlacedBlock { addr: allocation.addr, size_bytes, requested_bytes: allocation.size_bytes }
    };
    initial.map(block).collect()
}

/// Extends blocks of unknown size over a short rest, which the large pool never splits off.
fn fill_rests(segment: &mut InitialSegment) {
    if segment.is_small || segment.is_expandable {
        return;
    }
    for index in 0..segment.blocks.len() {
        let end = segment.blocks.get(index + 1).map_or(segment.range.end, |next| next.addr);
        let block = &mut segment.blocks[index];
        let rest = end.saturating_sub(block.addr).saturating_sub(block.requested_bytes);
        if block.size_bytes == 0 && rest <= LEAST_LARGE_REST {
            block.size_bytes = end.saturating_sub(block.addr);
        }
    }
}

/// Returns the segments before the first event, by undoing the segment events from the last to the first.
fn wound_back(trace: &Trace, device: &Device) -> Vec<InitialSegment> {
    let mut fixed: HashMap<u64, InitialSegment> = HashMap::new();
    let mut mapped: Vec<InitialSegment> = Vec::new();
    for segment in &device.segments.segments {
        let Some(range) = addresses(segment.addr, segment.size_bytes) else { continue };
        let initial = InitialSegment {
            range,
            stream: segment.stream,
            pool: segment.pool,
            is_small: segment.segment_type == SegmentType::Small,
            is_expandable: segment.is_expandable == Some(true),
            blocks: Vec::new(),
        };
        if initial.is_expandable {
            mapped.push(initial);
        } else {
            fixed.insert(segment.addr, initial);
        }
    }
    for index in (0..device.events.len()).rev() {
        let event = device.events.at(index);
        let Some(range) = addresses(event.addr, event.size_bytes) else { continue };
        let context = trace.contexts.get(event.context);
        let (stream, pool) = (context.stream, context.pool);
        let is_small = event.size_bytes == SMALL_SEGMENT;
        let segment = |is_expandable| InitialSegment {
            range: range.clone(),
            stream,
            pool,
            is_small,
            is_expandable,
            blocks: Vec::new(),
        };
        match event.action {
            Action::SegmentAlloc => drop(fixed.remove(&event.addr)),
            Action::SegmentFree => drop(fixed.insert(event.addr, segment(false))),
            Action::SegmentMap => cut(&mut mapped, &range),
            Action::SegmentUnmap => join(&mut mapped, segment(true)),
            _ => {}
        }
    }
    mapped.extend(fixed.into_values());
    mapped.retain(|segment| !segment.range.is_empty());
    mapped
}

/// Returns the addresses of a segment; `None` if no device has them, as in a damaged file.
fn addresses(addr: u64, size_bytes: u64) -> Option<Range<u64>> {
    let end = addr.checked_add(size_bytes).filter(|&end| end <= LAST_ADDR)?;
    Some(addr..end)
}

fn cut(mapped: &mut Vec<InitialSegment>, range: &Range<u64>) {
    let Some(index) = mapped.iter().position(|segment| segment.range.contains(&range.start)) else { return };
    let before = mapped.swap_remove(index);
    let parts = [before.range.start..range.start, range.end..before.range.end];
    mapped.extend(
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| InitialSegment { range: part, ..before.clone() }),
    );
}

fn join(mapped: &mut Vec<InitialSegment>, mut segment: InitialSegment) {
    mapped.retain(|other| {
        let touches = other.range.end == segment.range.start || segment.range.end == other.range.start;
        if touches {
            segment.range = other.range.start.min(segment.range.start)..other.range.end.max(segment.range.end);
            segment.is_small = other.is_small;
        }
        !touches
    });
    mapped.push(segment);
}

impl InitialSegment {
    /// Converts the segment to the allocator's type; `next` is the start of the next segment.
    pub(super) fn placed(&self, pool: PoolKey, next: Option<u64>) -> crate::allocator::PlacedSegment {
        crate::allocator::PlacedSegment {
            addr: self.range.start,
            size_bytes: self.range.end - self.range.start,
            stream: self.stream,
            pool,
            is_small: self.is_small,
            is_expandable: self.is_expandable,
            room_bytes: next.map(|next| next.saturating_sub(self.range.end)),
            blocks: self.blocks.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    /// Checks the segments from before a trace, written as size and blocks `offset+size`.
    #[track_caller]
    fn check(trace: &str, expected: &[&str]) {
        let sample = Sample::of(trace);
        let initial = &sample.replayer().initial;
        let words = |segment: &InitialSegment| {
            let block = |block: &PlacedBlock| format!(" {}+{}", block.addr - segment.range.start, block.size_bytes);
            let blocks: String = segment.blocks.iter().map(block).collect();
            format!("{}{blocks}", segment.range.end - segment.range.start)
        };
        assert_eq!(initial.segments.iter().map(words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_came_in_the_trace_was_not_there() {
        check(
            "
            segment_alloc 0x200000 2097152
            alloc 0x200000 512
            segment_free 0x900000 2097152
            segment 0x0 2097152
            block 0x0 1024 requested=1000
            block 0x400 2096128 inactive
            segment 0x200000 2097152
            block 0x200000 512
            block 0x200200 2096640 inactive
            ",
            &["2097152 0+1024", "2097152"],
        );
    }

    #[test]
    fn a_block_of_an_unmatched_free_reaches_to_what_is_known() {
        // 20 MiB: 3 MiB that are freed, 0.5 MiB that no other block can use, and a block that stays.
        check(
            "
            free 0x0 3145728
            segment 0x0 20971520
            block 0x0 3670016 inactive
            block 0x380000 17301504 requested=17301504
            ",
            &["20971520 0+3670016 3670016+17301504"],
        );
    }
}
