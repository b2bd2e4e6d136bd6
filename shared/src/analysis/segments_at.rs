//! The segments of a device at any moment, wound back from the final ones.
//!
//! ```text
//! event                0 segment_alloc A   1 segment_map M..M+2   2 segment_free A   3 segment_map M+2..M+4
//! final                M..M+4
//! at moment 3          M..M+2                    the last map undone
//! at moment 2          M..M+2  A                 the free undone
//! at moment 1          A                         the first map undone
//! ```
//!
//! Cost: a step of a search tree for each event of a segment after the moment.

use super::size_limit::SizeLimit;
use crate::trace::{Action, Device, Event, PoolId, SegmentType};
use std::collections::BTreeMap;

/// The size of segments of the small pool: PyTorch asks CUDA for no large one of this size.
const SMALL_SEGMENT_BYTES: u64 = 2 << 20;

/// A range of addresses that was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentAt {
    /// The first address.
    pub(super) addr: u64,
    /// The length.
    pub(super) size_bytes: u64,
    /// Whether it is of the small pool, as far as its size tells.
    pub(super) segment_type: SegmentType,
    /// Whether it is a mapped range of an expandable segment.
    pub(super) is_expandable: bool,
    /// Whether it belongs to a CUDA graph's pool or to a `MemPool`.
    pub(super) is_private: bool,
}

impl SegmentAt {
    /// One past the last address.
    pub(super) fn end(&self) -> u64 {
        self.addr.saturating_add(self.size_bytes)
    }
}

/// The segments at a moment, by address; `pool_of` looks up the pool of an event.
pub(super) fn segments_at(device: &Device, moment: u32, pool_of: impl Fn(&Event) -> Option<PoolId>) -> Vec<SegmentAt> {
    let limit = SizeLimit::of(device);
    let mut held: BTreeMap<u64, SegmentAt> = BTreeMap::new();
    for segment in &device.segments.segments {
        held.insert(
            segment.addr,
            SegmentAt {
                addr: segment.addr,
                size_bytes: limit.cap(segment.size_bytes),
                segment_type: segment.segment_type,
                is_expandable: segment.is_expandable == Some(true),
                is_private: is_private(segment.pool),
            },
        );
    }
    for index in (moment as usize..device.events.len()).rev() {
        let mut event = device.events.at(index);
        event.size_bytes = limit.cap(event.size_bytes);
        match event.action {
            Action::SegmentAlloc => {
                held.remove(&event.addr);
            }
            Action::SegmentFree => {
                held.insert(event.addr, segment_of(&event, false, is_private(pool_of(&event))));
            }
            Action::SegmentMap => cut(&mut held, event.addr, event.addr.saturating_add(event.size_bytes)),
            Action::SegmentUnmap => join(&mut held, segment_of(&event, true, is_private(pool_of(&event)))),
            _ => {}
        }
    }
    held.into_values().collect()
}

fn is_private(pool: Option<PoolId>) -> bool {
    pool.is_some_and(|pool| pool != PoolId::default())
}

fn segment_of(event: &Event, is_expandable: bool, is_private: bool) -> SegmentAt {
    let is_small = event.size_bytes == SMALL_SEGMENT_BYTES;
    let segment_type = if is_small { SegmentType::Small } else { SegmentType::Large };
    SegmentAt { addr: event.addr, size_bytes: event.size_bytes, segment_type, is_expandable, is_private }
}

/// Takes a range out of what is held.
fn cut(held: &mut BTreeMap<u64, SegmentAt>, start: u64, end: u64) {
    let before = held.range(..start).next_back().map(|(&addr, _)| addr);
    let within: Vec<u64> = before.into_iter().chain(held.range(start..end).map(|(&addr, _)| addr)).collect();
    for addr in within {
        let whole = held[&addr];
        if whole.end() <= start {
            continue;
        }
        held.remove(&addr);
        if whole.addr < start {
            held.insert(whole.addr, SegmentAt { size_bytes: start - whole.addr, ..whole });
        }
        if whole.end() > end {
            held.insert(end, SegmentAt { addr: end, size_bytes: whole.end() - end, ..whole });
        }
    }
}

/// Puts a mapped range back, joined with the ones that it touches.
fn join(held: &mut BTreeMap<u64, SegmentAt>, range: SegmentAt) {
    let mut joined = range;
    let touches = |other: &SegmentAt| other.is_expandable && other.is_private == range.is_private;
    let before = held.range(..range.addr).next_back().map(|(_, &before)| before);
    if let Some(before) = before.filter(|before| touches(before) && before.end() == range.addr) {
        held.remove(&before.addr);
        let size_bytes = before.size_bytes.saturating_add(range.size_bytes);
        joined = SegmentAt { size_bytes, ..before };
    }
    if let Some(after) = held.get(&range.end()).copied().filter(|after| touches(after)) {
        held.remove(&after.addr);
        joined.size_bytes = joined.size_bytes.saturating_add(after.size_bytes);
        joined.segment_type = after.segment_type;
    }
    held.insert(joined.addr, joined);
}

#[cfg(test)]
mod tests {
    use super::super::naive::Random;
    use super::*;
    use crate::trace::text;

    /// Checks the segments at a moment, written as `address+size` in MiB.
    #[track_caller]
    fn check(trace: &str, moment: u32, expected: &[&str]) {
        let mut trace = text::parse(trace).unwrap();
        for segment in &mut trace.devices[0].segments.segments {
            segment.is_expandable = Some(segment.addr >= 0x1000_0000);
        }
        let found = segments_at(&trace.devices[0], moment, |_| None);
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

    /// Which of 64 places of 1 MiB each are reserved, and the trace that leads there, one event a row.
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
                let found = segments_at(&trace.devices[0], moment as u32, |_| None);
                let places = found.iter().flat_map(|segment| {
                    let first = (segment.addr >> 20) - 256;
                    first..first + (segment.size_bytes >> 20)
                });
                assert_eq!(places.map(|place| 1_u64 << place).sum::<u64>(), expected, "seed {seed}, moment {moment}");
            }
        }
    }
}
