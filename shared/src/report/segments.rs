//! Builds the answer about the segments of a moment: the parts of their bytes, their free memory, and what keeps them.

use crate::analysis::{
    AllocationId, Allocations, Fragmentation, Held, MapSegment, Origin, Room, SegmentMap, held_segments, rooms,
    stack_label,
};
use crate::base::{Moment, ShortSort};
use crate::trace::{Device, PoolId, SegmentType, Trace};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Maximum number of allocations that are named for a held segment.
const MOST_HOLDERS: usize = 5;

/// Reserved memory of a device at one moment, and why it is free or in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    pub device: i64,
    /// Event after which the figures hold, -1 for the initial state.
    pub event: i64,
    pub bytes: Fragmentation,
    /// Memory that each pool and stream can hand out without calling CUDA, those with the most memory first.
    pub pools: Vec<Room>,
    /// Segments that cannot be released although at most a quarter is in use, those with the most free bytes first.
    pub held: Vec<HeldSegment>,
    pub other_held: u64,
}

/// Reserved memory of a moment with some of its segments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segments {
    #[serde(flatten)]
    pub reserved: Reserved,
    /// Segments with the most free bytes.
    pub segments: Vec<SegmentUse>,
    pub other_segments: u64,
}

/// Segment that a little memory in use keeps from being released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldSegment {
    pub addr: u64,
    pub size_bytes: u64,
    pub used_bytes: u64,
    /// Number of allocations that hold it.
    pub allocations: u64,
    /// Largest of these allocations.
    pub holders: Vec<Holder>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub addr: u64,
    pub size_bytes: u64,
    /// Event that allocated it, `None` if it is from before the trace.
    pub event: Option<u64>,
    pub title: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub addr: u64,
    pub size_bytes: u64,
    pub stream: u64,
    /// Pool, `(0, 0)` for the default one.
    pub pool: PoolId,
    pub segment_type: SegmentType,
    /// True for a mapped range of an expandable segment.
    pub is_expandable: bool,
    pub used_bytes: u64,
    pub largest_free_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentUse {
    #[serde(flatten)]
    pub segment: Segment,
    /// Number of blocks that are not free.
    pub used_blocks: u64,
    /// Title of the stack of the largest of these blocks; `None` in a free segment.
    pub title: Option<String>,
}

impl HeldSegment {
    pub fn free_bytes(&self) -> u64 {
        self.size_bytes.saturating_sub(self.used_bytes)
    }
}

/// Describes the reserved memory at the moment of a map, with at most `top` held segments.
pub fn reserved(trace: &Trace, device: &Device, allocations: &Allocations, map: &SegmentMap, top: usize) -> Reserved {
    let held = held_segments(map);
    let namer = Namer { trace, device, allocations };
    Reserved {
        device: device.index,
        event: Moment(map.moment).event_number(),
        bytes: Fragmentation::of(map),
        pools: rooms(map),
        held: held.iter().take(top).map(|held| namer.held(map, held)).collect(),
        other_held: held.len().saturating_sub(top) as u64,
    }
}

/// Describes the segments of a map, with at most `top` held ones and at most `top` of those with the most free bytes.
pub fn segments(trace: &Trace, device: &Device, allocations: &Allocations, map: &SegmentMap, top: usize) -> Segments {
    let mut most: Vec<&MapSegment> = map.segments.iter().collect();
    most.short_sort_by_key(|segment| Reverse(segment.free_bytes()));
    let namer = Namer { trace, device, allocations };
    Segments {
        reserved: reserved(trace, device, allocations, map, top),
        segments: most.iter().take(top).map(|segment| namer.segment_use(map, segment)).collect(),
        other_segments: most.len().saturating_sub(top) as u64,
    }
}

pub fn segment(MapSegment { at, used_bytes, largest_free_bytes, .. }: &MapSegment) -> Segment {
    Segment {
        addr: at.addr,
        size_bytes: at.size_bytes,
        stream: at.stream,
        pool: at.pool.unwrap_or_default(),
        segment_type: at.segment_type,
        is_expandable: at.is_expandable,
        used_bytes: *used_bytes,
        largest_free_bytes: *largest_free_bytes,
    }
}

/// Where the allocations in segments come from.
struct Namer<'a> {
    trace: &'a Trace,
    device: &'a Device,
    allocations: &'a Allocations,
}

impl Namer<'_> {
    fn held(&self, map: &SegmentMap, held: &Held) -> HeldSegment {
        let segment = &map.segments[held.segment];
        HeldSegment {
            addr: segment.at.addr,
            size_bytes: segment.at.size_bytes,
            used_bytes: segment.used_bytes,
            allocations: held.holders.len() as u64,
            holders: held.holders.iter().take(MOST_HOLDERS).map(|&id| self.holder(id)).collect(),
        }
    }

    fn holder(&self, id: AllocationId) -> Holder {
        let allocation = self.allocations.get(id, self.device);
        let event = match allocation.origin {
            Origin::Event(event) => Some(event as u64),
            Origin::UnmatchedFree(_) | Origin::Block(_) => None,
        };
        Holder { addr: allocation.addr, size_bytes: allocation.size_bytes, event, title: self.title(id) }
    }

    fn segment_use(&self, map: &SegmentMap, of: &MapSegment) -> SegmentUse {
        let used = || map.blocks_of(of).iter().filter(|block| !block.is_free());
        let largest = used().max_by_key(|block| block.size_bytes).and_then(|block| block.allocation);
        SegmentUse { segment: segment(of), used_blocks: used().count() as u64, title: largest.map(|id| self.title(id)) }
    }

    fn title(&self, id: AllocationId) -> String {
        let stack = self.allocations.allocation_stack(id, self.device);
        stack_label(self.trace, stack).map_or_else(|| "no stack recorded".to_owned(), |label| label.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Timeline;
    use crate::trace::text;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        segment_alloc 0x20000000 10MiB
        alloc 0x10000000 2097052 @forward<main
        segment_free 0x20000000 10MiB
        segment 0x10000000 20MiB
        block 0x10000000 2MiB requested=2097052
    ";

    fn at(moment: u32, top: usize) -> Segments {
        let trace = text::parse(TRACE).unwrap();
        let device = &trace.devices[0];
        let allocations = Timeline::new(&trace, device).allocations;
        segments(&trace, device, &allocations, &SegmentMap::at(&trace, device, &allocations, moment), top)
    }

    #[test]
    fn holders_are_named() {
        let Segments { reserved, segments, other_segments } = at(4, 10);
        assert_eq!((reserved.event, reserved.bytes.reserved_bytes, other_segments), (3, 20 << 20, 0));
        let [held] = reserved.held.as_slice() else { panic!("one segment is held: {:?}", reserved.held) };
        assert_eq!((held.addr, held.allocations, held.holders[0].event), (0x1000_0000, 1, Some(2)));
        assert_eq!(segments[0].title.as_deref(), Some("forward (main.py:1)"));
    }

    #[test]
    fn the_others_are_counted() {
        let Segments { reserved, segments, other_segments } = at(3, 0);
        assert_eq!((segments.len(), other_segments, reserved.held.len(), reserved.other_held), (0, 2, 0, 1));
    }

    #[test]
    fn json_has_one_level() {
        let json = serde_json::to_value(at(3, 1)).unwrap();
        assert_eq!((&json["event"], &json["pools"][0]["pool"]), (&2.into(), &serde_json::json!([0, 0])));
        assert_eq!(json["segments"][0]["segment_type"], "large");
    }
}
