//! Matches the allocations of a trace with those that a snapshot of the same run has.
//!
//! Both have addresses and, since PyTorch 2.3 or so, microseconds since the Unix epoch. The profiler converts the clock of
//! the processor, so that its times are some microseconds off; an address that is allocated again in less than that is not
//! matched wrongly, because each allocation is matched once, with the nearest one.

use super::trace::Course;
use hashbrown::HashMap;

/// Largest difference of the times of one allocation in both files.
const MOST_OFF_US: f64 = 1000.0;

/// Allocation of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    pub time_us: i64,
    pub addr: u64,
    /// Requested size; the trace has the size of the block, which is larger.
    pub size_bytes: u64,
}

/// What belongs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// Position of the event of the trace for each allocation of the snapshot.
    pub events: Vec<Option<usize>>,
    /// Number of allocations of the trace.
    pub allocations: usize,
    /// Number of them that the snapshot has.
    pub matched: usize,
    /// Median difference of their times.
    pub off_us: f64,
}

/// Matches the allocations of a device, which come in the order of a snapshot's events.
pub fn matches(course: &Course, allocated: impl Iterator<Item = Allocated>) -> Matches {
    let mut by_addr: HashMap<u64, Vec<usize>> = HashMap::new();
    let allocations = course.events.iter().enumerate().filter(|(_, event)| event.bytes > 0);
    for (position, event) in allocations.clone() {
        by_addr.entry(event.addr).or_default().push(position);
    }
    let mut is_taken = vec![false; course.events.len()];
    let mut offs: Vec<f64> = Vec::new();
    let mut of = |one: Allocated| {
        let (position, off_us) = nearest(course, by_addr.get(&one.addr)?, &one)?;
        // The allocator hands out an address again only later.
        if std::mem::replace(&mut is_taken[position], true) {
            return None;
        }
        offs.push(off_us);
        Some(position)
    };
    let events = allocated.map(&mut of).collect();
    offs.sort_by(f64::total_cmp);
    let off_us = offs.get(offs.len() / 2).copied().unwrap_or(0.0);
    Matches { events, allocations: allocations.count(), matched: offs.len(), off_us }
}

/// Returns the event of an address that is nearest in time, and how far it is off.
fn nearest(course: &Course, positions: &[usize], one: &Allocated) -> Option<(usize, f64)> {
    let time_us = one.time_us as f64;
    let after = positions.partition_point(|&position| course.events[position].time_us < time_us);
    let near = positions[after.saturating_sub(1)..].iter().take(2);
    let near = near.map(|&position| (position, (course.events[position].time_us - time_us).abs()));
    let (position, off_us) = near.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_same = off_us <= MOST_OFF_US && course.events[position].bytes.unsigned_abs() >= one.size_bytes;
    is_same.then_some((position, off_us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::MemoryEvent;

    #[test]
    fn an_address_is_matched_with_the_nearest_time() {
        let event =
            |time_us: f64, addr: u64, bytes: i64| MemoryEvent { time_us, addr, bytes, ..MemoryEvent::default() };
        let events = vec![
            event(100.0, 1, 512),
            event(150.0, 1, -512),
            event(200.5, 1, 1024),
            event(300.0, 2, 512),
            event(9000.0, 3, 512),
        ];
        let course = Course { events, ..Course::default() };
        let all = [(100, 1, 500), (200, 1, 1024), (299, 2, 513), (201, 1, 8), (300, 4, 8), (4000, 3, 8)];
        let all = all.map(|(time_us, addr, size_bytes)| Allocated { time_us, addr, size_bytes });
        let found = matches(&course, all.into_iter());
        assert_eq!(found.events, [Some(0), Some(2), None, None, None, None]);
        assert_eq!((found.allocations, found.matched, found.off_us), (4, 2, 0.5));
    }
}
