//! Reads rows that a loop prints with a time before each of them, or all in one line: `echo $(date) $(ps aux)`.
//!
//! ```text
//! Mon Nov 23 15:46:52 UTC 2026 ml 17 99.5 … python t.py ml 18 12.5 … python t.py     two rows of one sample
//! ```
//!
//! The command of a row ends where the next row begins.

use super::super::head::Head;
use super::super::log::HostForm;
use super::super::row::{Found, Row};
use super::HostReader;
use crate::base::stamp::Stamp;

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
        if let Some((form, row)) = head.row(rows).map(|row| (head.form, row)) {
            match row.clone().split(of) {
                Some((row, rest)) => self.joined(row, form, rest, of),
                None => self.joined(row, form, "", of),
            }
        }
        self.head = Some(head);
    }

    /// Adds a row and those behind it.
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
            (row, form, rest) = match next.clone().split(&of) {
                Some((next, behind)) => (next, next_form, behind),
                None => (next, next_form, ""),
            };
        }
    }
}
