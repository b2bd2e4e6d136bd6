//! What happened in a history: a line an action, with its time, so that a violation can be understood.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines that are printed of all that happened before a violation.
const LAST: usize = 60;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The job or the link, as lines of the history name it; empty where it is about all of them.
    pub subject: String,
    /// What is wrong, in words.
    pub what: String,
}

impl Violation {
    /// Something that is about no single job or link.
    pub(super) fn of_all(what: impl Into<String>) -> Self {
        Self { subject: String::new(), what: what.into() }
    }
}

/// Everything that was done and answered.
#[derive(Debug)]
pub struct Log {
    start: Instant,
    lines: Mutex<Vec<(Duration, String)>>,
}

impl Default for Log {
    fn default() -> Self {
        Self::new()
    }
}

impl Log {
    /// An empty log, whose time begins now.
    pub fn new() -> Self {
        Self { start: Instant::now(), lines: Mutex::default() }
    }

    /// Adds a line.
    pub(super) fn note(&self, line: String) {
        let at = self.start.elapsed();
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push((at, line));
    }

    /// All lines, each with the seconds since the start.
    pub fn text(&self) -> String {
        self.of(|_| true, usize::MAX)
    }

    /// The faults, and what was done with one job or link: all of it, and the last of the faults.
    pub fn about(&self, subject: &str) -> String {
        let is_fault = |line: &str| line.starts_with("fault: ");
        let is_about = |line: &str| !subject.is_empty() && line.contains(subject);
        self.of(|line| is_fault(line) || is_about(line), LAST)
    }

    fn of(&self, is_wanted: impl Fn(&str) -> bool, most: usize) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted: Vec<_> = lines.iter().filter(|(_, line)| is_wanted(line)).collect();
        let mut text = String::new();
        for (at, line) in &wanted[wanted.len().saturating_sub(most)..] {
            let _ = writeln!(text, "{:8.3} s  {line}", at.as_secs_f64());
        }
        text
    }
}
