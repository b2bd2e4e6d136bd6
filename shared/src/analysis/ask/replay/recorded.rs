//! Answers driver calls as the recording did, and computes its course of memory in the columns of a replay's course.
//!
//! ```text
//! events    segment_alloc 20, alloc 20 | free 20 | segment_alloc 30, alloc 30 | free 30
//! columns   reserved 20, live 20       | 20, 20  | 50, 30                     | 50, 30
//! beyond    0                          | 20      | 20                         | 50
//! ```
//!
//! The state between the two events of a request means nothing, and doesn't count for the bytes beyond the live ones.
//! Calls get the same addresses, and the device is full when the recording says so.
//!
//! Cost: linear in the events.

use super::steps::is_driver;
use crate::allocator::{Driver, LAST_ADDR};
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Action, Device};
use serde::{Deserialize, Serialize};

/// Memory of the device if it is unknown, 1 TiB; it then only decides how large reservations are.
const TOTAL: u64 = 1 << 40;
/// Start of the addresses of memory that the recording did not fetch.
const UNKNOWN: u64 = LAST_ADDR;

/// Driver call, as recorded or as replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedEvent {
    pub action: Action,
    pub addr: u64,
    pub size_bytes: u64,
}

/// Driver call of the recording, with the index of its event.
pub(super) type Call = (usize, RecordedEvent);

/// Driver that answers the calls of a recording in their order.
#[derive(Debug)]
pub(super) struct RecordedCard {
    pub(super) calls: Vec<Call>,
    next: usize,
    /// Calls from this index on belong to later steps.
    pub(super) limit: usize,
    /// Bytes of addresses given out that the recording does not have.
    unknown_bytes: u64,
    total_bytes: u64,
}

impl RecordedCard {
    pub(super) fn new(device: &Device, total_bytes: Option<u64>) -> Self {
        let driver = |event: &usize| is_driver(device.events.actions().at(*event));
        let call = |event| {
            let row = device.events.at(event);
            (event, RecordedEvent { action: row.action, addr: row.addr, size_bytes: row.size_bytes })
        };
        let calls = (0..device.events.len()).filter(driver).map(call).collect();
        Self { calls, next: 0, limit: 0, unknown_bytes: 0, total_bytes: total_bytes.unwrap_or(TOTAL).min(UNKNOWN) }
    }

    /// Begins a step, to which the calls from index `next` on and before event `until` belong.
    pub(super) fn begin(&mut self, next: usize, until: usize) {
        self.next = next;
        self.limit = self.calls.partition_point(|call| call.0 < until);
    }

    fn peek(&self) -> Option<RecordedEvent> {
        (self.next < self.limit).then(|| self.calls[self.next].1)
    }

    /// Returns the address of the next call if it is this one, and passes it.
    ///
    /// Returns `None` for an address that no device has, as in a damaged file.
    fn answer(&mut self, action: Action, size_bytes: u64) -> Option<u64> {
        let call = self.peek().filter(|call| (call.action, call.size_bytes) == (action, size_bytes))?;
        call.addr.checked_add(size_bytes).filter(|&end| end <= LAST_ADDR)?;
        self.next += 1;
        Some(call.addr)
    }

    /// Returns an address for memory that the recording did not fetch.
    fn unknown(&mut self, size_bytes: u64) -> u64 {
        self.unknown_bytes = (self.unknown_bytes + size_bytes) % UNKNOWN;
        UNKNOWN + self.unknown_bytes
    }

    /// Returns true if the device was full: the recording gives memory back next, or the step has no further call.
    fn is_full(&self) -> bool {
        self.peek().is_none_or(|call| matches!(call.action, Action::SegmentFree | Action::SegmentUnmap))
    }
}

impl Driver for RecordedCard {
    fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    fn free_bytes(&self) -> u64 {
        0
    }

    fn malloc(&mut self, size_bytes: u64) -> Option<u64> {
        let answer = self.answer(Action::SegmentAlloc, size_bytes);
        if answer.is_some() || self.is_full() {
            return answer;
        }
        Some(self.unknown(size_bytes))
    }

    fn free(&mut self, _: u64, size_bytes: u64) {
        self.answer(Action::SegmentFree, size_bytes);
    }

    fn reserve(&mut self, size_bytes: u64) -> u64 {
        let is_map = |call: &RecordedEvent| call.action == Action::SegmentMap && call.addr <= LAST_ADDR;
        match self.peek().filter(is_map) {
            Some(call) => call.addr,
            None => self.unknown(size_bytes),
        }
    }

    fn unreserve(&mut self, _: u64, _: u64) {}

    fn map(&mut self, _: u64, size_bytes: u64, _: u64) -> bool {
        self.answer(Action::SegmentMap, size_bytes).is_some() || !self.is_full()
    }

    fn unmap(&mut self, _: u64, size_bytes: u64, _: u64) {
        self.answer(Action::SegmentUnmap, size_bytes);
    }
}

/// Highest values and counts of a range of a recording's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedColumn {
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    /// Bytes of segments that no tensor asked for, measured between requests.
    pub beyond_live_bytes: u64,
    /// Number of driver calls, each of which stalls the program.
    pub calls: u64,
    pub ooms: u64,
}

pub fn recorded_calls(device: &Device) -> u64 {
    device.events.actions().iter().filter(|&action| is_driver(action)).count() as u64
}

/// Returns the course of the recording in at most `columns` columns of equally many events.
///
/// The columns are those of [`Replayer::course`](super::Replayer::course).
pub fn recorded_course(device: &Device, timeline: &Timeline, columns: usize) -> Vec<RecordedColumn> {
    let events = timeline.events();
    let wanted = columns.clamp(1, events.max(1) as usize) as u64;
    let first = |column: u64| (column * u64::from(events)).div_ceil(wanted) as u32;
    let actions = device.events.actions();
    let mut balance = timeline.balance();
    let mut beyond_live_bytes = balance.reserved_bytes.saturating_sub(balance.live_bytes);
    let mut course = Vec::with_capacity(wanted as usize);
    for column in 0..wanted {
        let events = first(column)..first(column + 1);
        // Moment 0 is the state before the first event, and belongs to the first column.
        let moments = events.start + u32::from(column > 0)..events.end + 1;
        let mut row = RecordedColumn {
            live_bytes: timeline.live_max_in(moments.clone()).1,
            reserved_bytes: timeline.reserved_max_in(moments).1,
            beyond_live_bytes,
            ..RecordedColumn::default()
        };
        for event in events {
            let action = actions.at(event as usize);
            row.calls += u64::from(is_driver(action));
            row.ooms += u64::from(action == Action::Oom);
        }
        timeline.walk(&mut balance, first(column + 1), |balance| {
            beyond_live_bytes = balance.reserved_bytes.saturating_sub(balance.live_bytes);
            row.beyond_live_bytes = row.beyond_live_bytes.max(beyond_live_bytes);
        });
        course.push(row);
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::Settings;
    use crate::analysis::ask::replay::ReplayConfig;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::naive;

    #[test]
    fn columns_are_those_of_every_moment() {
        for seed in 0..60 {
            let sample = Sample::new(naive::random_trace(seed, 15 * seed));
            let (device, timeline) = (sample.device(), &sample.timeline);
            for columns in [1, 5, 300] {
                let course = recorded_course(device, timeline, columns);
                assert_eq!(course.len(), columns.min(device.events.len().max(1)));
                assert_eq!(course.iter().map(|row| row.calls).sum::<u64>(), recorded_calls(device), "seed {seed}");
                let peak = course.iter().map(|row| row.reserved_bytes).max();
                assert_eq!(peak, Some(timeline.reserved_peak().1), "seed {seed}");
                // Naive: the moments after all events that changed the live bytes.
                let beyond = |moment: u32| timeline.reserved_at(moment).saturating_sub(timeline.live_at(moment));
                let changes = |event: &u32| timeline.live_at(*event) != timeline.live_at(event + 1);
                let naive = (0..timeline.events()).filter(changes).map(|event| beyond(event + 1)).max().unwrap_or(0);
                let highest = course.iter().map(|row| row.beyond_live_bytes).max().unwrap();
                assert_eq!(highest, naive.max(beyond(0)), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_replay_as_recorded_has_the_same_columns() {
        let sample = Sample::of(
            "segment_alloc a 20MiB\nalloc a 20MiB\nfree a\nsegment_alloc c 30MiB\nalloc c 30MiB\nfree c\n\
             segment a 20MiB\nblock a 20MiB inactive\nsegment c 30MiB\nblock c 30MiB inactive",
        );
        let recorded = recorded_course(sample.device(), &sample.timeline, 4);
        let (_, replayed) = sample.replayer().course(&ReplayConfig::unlimited(Settings::default()), 4);
        let mib = |bytes: u64| bytes >> 20;
        let rows = recorded.iter().map(|row| [row.live_bytes, row.reserved_bytes, row.beyond_live_bytes].map(mib));
        let same = replayed.iter().map(|row| [row.live_bytes, row.reserved_bytes, row.beyond_live_bytes].map(mib));
        let expected = [[20, 20, 0], [20, 20, 20], [30, 50, 20], [30, 50, 50]];
        assert_eq!([rows.collect::<Vec<_>>(), same.collect()], [expected, expected]);
        assert_eq!(recorded.iter().map(|row| row.calls).collect::<Vec<_>>(), [1, 0, 1, 0]);
    }
}
