//! Begins samples at the times of a log, whatever clock it has.

use super::super::log::Clock;
use super::HostReader;
use crate::base::stamp::{self, Stamp};

impl HostReader {
    /// Begins a sample at a time; a line with the time of the current sample belongs to it.
    pub(super) fn sample(&mut self, stamp: Stamp) {
        self.sample_of(stamp, if stamp.day.is_some() { Clock::Dates } else { Clock::TimeOfDay });
    }

    pub(super) fn sample_of(&mut self, stamp: Stamp, clock: Clock) {
        const HALF_DAY_MS: i64 = Stamp::DAY_MS / 2;
        let is_of_other_clock = (clock == Clock::Elapsed) != (self.log.clock == Clock::Elapsed);
        if self.log.clock != Clock::Samples && is_of_other_clock {
            return;
        }
        self.in_sample.clear();
        if self.last_stamp.replace(stamp) == Some(stamp) {
            return;
        }
        if self.log.times_ms.is_empty() {
            self.log.zone_min = stamp.offset_min.unwrap_or(0);
        }
        match self.log.times_ms.len() {
            0 => self.log.clock = clock,
            // The loop prints the time behind the rows, so that the first sample came without one.
            1 if self.log.clock == Clock::Samples => {
                self.log.times_ms.clear();
                self.log.clock = clock;
            }
            _ if self.log.clock == Clock::Samples => {
                self.is_new_sample = true;
                return;
            }
            _ => {}
        }
        let mut ms = match self.log.clock {
            Clock::Dates | Clock::Elapsed => stamp.epoch_ms().unwrap_or_else(|| self.last_ms.unwrap_or(0)),
            _ => stamp.time_ms + self.midnights * Stamp::DAY_MS,
        };
        if self.log.clock == Clock::TimeOfDay && self.last_ms.is_some_and(|last| last - ms > HALF_DAY_MS) {
            self.midnights += 1;
            ms += Stamp::DAY_MS;
        }
        ms += self.shift_ms;
        if let Some(last) = self.last_ms.filter(|last| ms < *last) {
            // The clock was set back: the samples go on as if nothing had happened between the two.
            self.oddities.clock_back += 1;
            self.shift_ms += last - ms;
            ms = last;
        }
        self.last_ms = Some(ms);
        self.log.times_ms.push(ms);
        self.is_new_sample = false;
    }

    /// Begins the sample of a time as a row has it.
    pub(super) fn time(&mut self, text: &str) {
        if text.is_empty() || text == self.last_time {
            return;
        }
        text.clone_into(&mut self.last_time);
        if let Some(stamp) = stamp::stamp(text) {
            self.sample(stamp);
        } else if let Some(ms) = elapsed_ms(text) {
            self.sample_of(Stamp::of_epoch(ms), Clock::Elapsed);
        }
    }
}

/// Returns the milliseconds of a number of seconds since some start.
fn elapsed_ms(text: &str) -> Option<i64> {
    text.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds)).map(|seconds| (seconds * 1e3) as i64)
}
