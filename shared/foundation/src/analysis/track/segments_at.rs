//! Reconstructs the segments of a device at any moment by winding back from the final ones.
//!
//! ```text
//! event                0 segment_alloc A   1 segment_map M..M+2   2 segment_free A   3 segment_map M+2..M+4
//! final                M..M+4
//! at moment 3          M..M+2                    the last map undone
//! at moment 2          M..M+2  A                 the free undone
//! at moment 1          A                         the first map undone
//! ```
//!
//! Cost: one search tree operation for each segment event after the moment.

use crate::analysis::track::pairing::SizeLimit;
use crate::trace::{Action, Device, Event, PoolId, Segment, SegmentType, Trace, cut};
use std::collections::BTreeMap;

/// Reserved range of addresses: the memory of one `cudaMalloc`, or a mapped range of an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentAt {
    pub addr: u64,
    pub size_bytes: u64,
    /// Raw stream handle.
    pub stream: u64,
    pub pool: Option<PoolId>,
    /// Small or large pool; for a segment that does not exist at the end, inferred from its size.
    pub segment_type: SegmentType,
    /// True for a mapped range of an expandable segment.
    pub is_expandable: bool,
}

impl SegmentAt {
    fn of(segment: &Segment, limit: SizeLimit) -> Self {
        Self {
            addr: segment.addr,
            size_bytes: limit.cap(segment.size_bytes),
            stream: segment.stream,
            pool: segment.pool,
            segment_type: segment.segment_type,
            is_expandable: segment.is_expandable == Some(true),
        }
    }

    /// Returns the address after the last one.
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.size_bytes)
    }

    /// Returns true if it belongs to the pool of a CUDA graph or to a `MemPool`.
    pub fn is_private(&self) -> bool {
        self.pool.is_some_and(|pool| pool != PoolId::default())
    }

    /// Returns true if both are expandable and of one pool and stream, as far as is known.
    ///
    /// Events before torch 2.8 name no pool.
    fn is_kin(&self, other: &Self) -> bool {
        let same_pool = self.pool.is_none() || other.pool.is_none() || self.pool == other.pool;
        self.is_expandable && other.is_expandable && self.stream == other.stream && same_pool
    }
}

/// Returns true for actions that change which addresses are reserved.
pub fn is_of_segment(action: Action) -> bool {
    matches!(action, Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap)
}

/// Returns the indices of the segment events, ascending.
pub fn changes_of(device: &Device) -> Vec<u32> {
    let mut changes = Vec::new();
    // `for_each` loops over each chunk of the column, while an iterator would look for the next chunk at each row.
    device.events.actions().iter().enumerate().for_each(|(index, action)| {
        if is_of_segment(action) {
            changes.push(index as u32);
        }
    });
    changes
}

/// Returns the segments at a moment, sorted by address.
pub fn segments_at(trace: &Trace, device: &Device, moment: u32) -> Vec<SegmentAt> {
    let mut winder = Winder::of_end(device);
    let later = (moment as usize..device.events.len()).rev();
    for index in later.filter(|&index| is_of_segment(device.events.actions().at(index))) {
        winder.undo(trace, device.events.at(index));
    }
    winder.segments()
}

/// Segments at a moment, while winding back through the trace.
#[derive(Clone, Debug)]
pub struct Winder {
    limit: SizeLimit,
    held: BTreeMap<u64, SegmentAt>,
}

impl Winder {
    /// Starts with the final segments of a device.
    pub fn of_end(device: &Device) -> Self {
        let limit = SizeLimit::of(device);
        let segments = device.segments.segments.iter();
        let held = segments.map(|segment| (segment.addr, SegmentAt::of(segment, limit))).collect();
        Self { limit, held }
    }

    /// Starts with the segments of a moment, to wind back from it.
    pub fn resume(segments: &[SegmentAt], limit: SizeLimit) -> Self {
        Self { limit, held: segments.iter().map(|&segment| (segment.addr, segment)).collect() }
    }

    pub fn count(&self) -> usize {
        self.held.len()
    }

    /// Returns the segments, sorted by address.
    pub fn segments(&self) -> Vec<SegmentAt> {
        self.held.values().copied().collect()
    }

    pub fn undo(&mut self, trace: &Trace, mut event: Event) {
        event.size_bytes = self.limit.cap(event.size_bytes);
        let of_event =
            |is_expandable| SegmentAt::of(&Segment::of_event(&event, &trace.contexts, is_expandable), self.limit);
        match event.action {
            Action::SegmentAlloc => drop(self.held.remove(&event.addr)),
            Action::SegmentFree => drop(self.held.insert(event.addr, of_event(false))),
            Action::SegmentMap => {
                let range = event.addr..event.addr.saturating_add(event.size_bytes);
                cut(&mut self.held, range, |segment| (&mut segment.addr, &mut segment.size_bytes));
            }
            Action::SegmentUnmap => self.join(of_event(true)),
            _ => {}
        }
    }

    /// Restores a mapped range and merges it with adjacent ones of the same pool and stream.
    fn join(&mut self, range: SegmentAt) {
        let held = &mut self.held;
        let mut joined = range;
        let before = held.range(..range.addr).next_back().map(|(_, &before)| before);
        if let Some(before) = before.filter(|before| before.is_kin(&range) && before.end() == range.addr) {
            held.remove(&before.addr);
            let size_bytes = before.size_bytes.saturating_add(range.size_bytes);
            joined = SegmentAt { size_bytes, pool: before.pool.or(range.pool), ..before };
        }
        if let Some(after) = held.get(&range.end()).copied().filter(|after| after.is_kin(&joined)) {
            held.remove(&after.addr);
            joined.size_bytes = joined.size_bytes.saturating_add(after.size_bytes);
            joined.segment_type = after.segment_type;
            joined.pool = joined.pool.or(after.pool);
        }
        held.insert(joined.addr, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::Random;
    use crate::trace::text;

    /// Checks the segments at a moment, written as `address+size` in MiB.
    #[track_caller]
    fn check(trace: &str, moment: u32, expected: &[&str]) {
        let mut trace = text::parse(trace).unwrap();
        for segment in &mut trace.devices[0].segments.segments {
            segment.is_expandable = Some(segment.addr >= 0x1000_0000);
        }
        let found = segments_at(&trace, &trace.devices[0], moment);
        let found: Vec<String> =
            found.iter().map(|segment| format!("{}+{}", segment.addr >> 20, segment.size_bytes >> 20)).collect();
        assert_eq!(found, expected);
    }

    const TRACE: &str = "
        segment_alloc 0x100000 20MiB
        segment_map 0x10000000 2MiB
        segment_free 0x100000 20MiB
        segment_map 0x10200000 2MiB
        segment_unmap 0x10100000 1MiB
        segment 0x10000000 1MiB
        segment 0x10200000 2MiB
    ";

    #[test]
    fn events_are_undone_from_the_last() {
        check(TRACE, 5, &["256+1", "258+2"]);
        check(TRACE, 4, &["256+4"]);
        check(TRACE, 3, &["256+2"]);
        check(TRACE, 2, &["1+20", "256+2"]);
        check(TRACE, 1, &["1+20"]);
        check(TRACE, 0, &[]);
    }

    /// Generates a trace with one event per line, and for each moment a bit mask of the reserved places.
    ///
    /// There are 64 places of 1 MiB each.
    fn random_course(random: &mut Random) -> (String, Vec<u64>) {
        let (mut lines, mut reserved, mut courses) = (String::new(), 0_u64, vec![0]);
        for _ in 0..40 {
            let (start, len) = (random.below(56), 1 + random.below(8));
            let places = ((1 << len) - 1) << start;
            let action = match reserved & places {
                0 => "segment_map",
                held if held == places => "segment_unmap",
                _ => continue,
            };
            reserved ^= places;
            courses.push(reserved);
            lines += &format!("{action} {:#x} {len}MiB\n", (256 + start) << 20);
        }
        (lines, courses)
    }

    #[test]
    fn winding_back_agrees_with_going_forward() {
        for seed in 0..100 {
            let (mut lines, courses) = random_course(&mut Random::new(seed));
            let last = courses[courses.len() - 1];
            for place in (0..64).filter(|place| last >> place & 1 == 1) {
                lines += &format!("segment {:#x} 1MiB\n", (256 + place) << 20);
            }
            let mut trace = text::parse(&lines).unwrap();
            trace.devices[0].segments.segments.iter_mut().for_each(|segment| segment.is_expandable = Some(true));
            for (moment, &expected) in courses.iter().enumerate() {
                let found = segments_at(&trace, &trace.devices[0], moment as u32);
                let places = found.iter().flat_map(|segment| {
                    let first = (segment.addr >> 20) - 256;
                    first..first + (segment.size_bytes >> 20)
                });
                assert_eq!(places.map(|place| 1_u64 << place).sum::<u64>(), expected, "seed {seed}, moment {moment}");
            }
        }
    }
}
