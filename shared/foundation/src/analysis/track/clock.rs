//! Converts moments to times and times to moments.
//!
//! Idea: the time of an event is the latest time recorded so far, because clocks may jump back but a time axis must
//! not.
//! This running maximum is stored for every 128th event; the event column gives the ones between.
//!
//! Cost: 8 bytes per 128 events; a query is a binary search and reads at most 128 events.

use crate::base::{PackedColumn, pieces};
use crate::trace::EventTable;
use std::ops::Range;

const BLOCK_BITS: u32 = 7;

/// Time axis of one device; queries take the events from which it was built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    origin_us: i64,
    /// Running maximum before each block of 128 events.
    before_us: Vec<i64>,
    end_us: i64,
}

impl Clock {
    /// Creates the clock of some events; its origin is the first event that has a time.
    pub fn new(events: &EventTable) -> Self {
        let times = events.times_us();
        let mut clock = Self { origin_us: times.iter().find(|&time_us| time_us != 0).unwrap_or(0), ..Self::default() };
        pieces(times.len()).for_each(|piece| clock.take(times, piece));
        clock
    }

    #[inline(never)]
    fn take(&mut self, times: &PackedColumn<i64>, piece: Range<usize>) {
        for (event, time_us) in piece.clone().zip(times.range(piece)) {
            if event & ((1 << BLOCK_BITS) - 1) == 0 {
                self.before_us.push(self.end_us);
            }
            self.end_us = self.relative_us(time_us).max(self.end_us);
        }
    }

    /// Returns true if the events have times.
    pub fn is_running(&self) -> bool {
        !self.before_us.is_empty()
    }

    /// Converts a time since the Unix epoch to one since the clock's origin; earlier times are negative.
    pub fn relative_us(&self, time_us: i64) -> i64 {
        time_us.saturating_sub(self.origin_us)
    }

    pub fn end_us(&self) -> i64 {
        self.end_us
    }

    /// Returns the time at which a moment begins: 0 for moment 0, that of event `m - 1` for moment `m`.
    pub fn start_us(&self, events: &EventTable, moment: u32) -> i64 {
        let moment = (moment as usize).min(events.times_us().len());
        let block = moment >> BLOCK_BITS;
        // If the last block is full, no further block follows it.
        let Some(&before) = self.before_us.get(block) else { return self.end_us };
        let times = events.times_us().range(block << BLOCK_BITS..moment);
        times.fold(before, |latest, time_us| self.relative_us(time_us).max(latest))
    }

    /// Iterates over the times at which the moments begin, from moment 0 on.
    pub fn starts_us<'a>(&'a self, events: &'a EventTable) -> impl Iterator<Item = u64> + 'a {
        let latest = events.times_us().iter().scan(0, |latest: &mut i64, time_us| {
            *latest = self.relative_us(time_us).max(*latest);
            Some(latest.unsigned_abs())
        });
        std::iter::once(0).chain(latest)
    }

    /// Returns the last moment that begins at `time_us` or earlier, 0 if there is none.
    pub fn moment_at(&self, events: &EventTable, time_us: i64) -> u32 {
        let block = self.before_us.partition_point(|&before| before <= time_us).saturating_sub(1);
        let first = block << BLOCK_BITS;
        let count = events.times_us().len();
        let times = events.times_us().range(first.min(count)..(first + (1 << BLOCK_BITS)).min(count));
        let happened = times.take_while(|&time| self.relative_us(time).max(0) <= time_us).count();
        (first + happened) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    #[test]
    fn a_clock_that_jumps_back_stands_still() {
        let trace =
            text::parse("snapshot\nsnapshot t=100\nsnapshot t=105\nsnapshot t=90\nsnapshot t=105\nsnapshot t=106");
        let trace = trace.unwrap();
        let events = &trace.devices[0].events;
        let clock = Clock::new(events);
        let starts: Vec<_> = (0..=7).map(|moment| clock.start_us(events, moment)).collect();
        assert_eq!(starts, [0, 0, 0, 5, 5, 5, 6, 6]);
        let moments: Vec<_> = [-1, 0, 4, 5, 6, 99].map(|time_us| clock.moment_at(events, time_us)).to_vec();
        assert_eq!(moments, [0, 2, 2, 5, 6, 6]);
    }

    #[test]
    fn moments_and_times_are_inverse_across_blocks() {
        let text: String = (1..=300).map(|t| format!("snapshot t={}\n", 1000 + t / 3)).collect();
        let trace = text::parse(&text).unwrap();
        let events = &trace.devices[0].events;
        let clock = Clock::new(events);
        for time_us in 0..=clock.end_us() {
            let moment = clock.moment_at(events, time_us);
            assert!(clock.start_us(events, moment) <= time_us);
            assert!(moment == 300 || clock.start_us(events, moment + 1) > time_us, "{time_us}");
        }
    }

    #[test]
    fn a_trace_without_times_has_no_clock() {
        let trace = text::parse("snapshot").unwrap();
        assert!(!Clock::new(&trace.devices[0].events).is_running());
    }
}
