//! Begins samples at the times of a log, whatever its clock, and reads rows that share a line.
//!
//! A loop prints a time before each row, or all in one line (`echo $(date) $(ps aux)`):
//!
//! ```text
//! Mon Nov 23 15:46:52 UTC 2026 ml 17 99.5 … python t.py ml 18 12.5 … python t.py     two rows of one sample
//! ```
//!
//! The command of a row ends where the next row begins.

use super::super::head::Head;
use super::super::log::{Clock, HostForm};
use super::super::row::{Found, Row};
use super::HostReader;
use shared::base::stamp::{self, Stamp};

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

/// Longest time between the rows of one sample that have their own times, in milliseconds.
const LATE_MS: i64 = 1000;

impl HostReader {
    /// Returns true if a row with a time of its own belongs to the current sample, because the clock ticked in between.
    ///
    /// The next sample begins with a process that is in the current one.
    pub(super) fn is_late(&self, stamp: &Stamp, pid: u32) -> bool {
        let Some(last) = self.last_stamp.filter(|last| last.day == stamp.day) else { return false };
        let position = self.current.get(&pid);
        let seen = position.and_then(|&position| self.log.processes[position].samples.last());
        (0..=LATE_MS).contains(&(stamp.time_ms - last.time_ms))
            && seen.is_none_or(|&seen| (seen as usize) + 1 < self.log.times_ms.len())
    }

    /// Reads the head of a table and the rows behind it in the same line.
    pub(super) fn joined_below(&mut self, head: Head, stamp: Option<Stamp>, rows: &str) {
        match stamp {
            Some(stamp) => self.sample(stamp),
            None => self.is_new_sample = true,
        }
        let of = |line| Some((head.form, head.row(line).filter(|row| head.is_whole(row))?));
        if let Some(row) = head.row(rows) {
            let (row, rest) = row.split(of);
            self.joined(row, head.form, rest, of);
        }
        self.head = Some(head);
    }

    pub(super) fn joined<'a>(
        &mut self,
        mut row: Row<'a>,
        mut form: HostForm,
        mut rest: &'a str,
        of: impl Fn(&'a str) -> Found<'a>,
    ) {
        loop {
            self.forms[form as usize] += 1;
            if row.rss_bytes.or(row.pss_bytes).is_some() {
                self.add(&row);
            }
            let Some((next_form, next)) = of(rest) else { return };
            form = next_form;
            (row, rest) = next.split(&of);
        }
    }
}
