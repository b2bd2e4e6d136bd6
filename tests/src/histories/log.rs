//! Logs the actions of a history with their times, one per line, to make violations understandable.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of lines printed after a violation.
const LAST: usize = 60;

/// Contradiction between the server and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Job or link as named in the log; empty if the violation concerns all of them.
    pub subject: String,
    pub what: String,
}

impl Violation {
    pub(super) fn of_all(what: impl Into<String>) -> Self {
        Self { subject: String::new(), what: what.into() }
    }
}

/// All actions and answers with their times.
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
    pub fn new() -> Self {
        Self { start: Instant::now(), lines: Mutex::default() }
    }

    pub(super) fn note(&self, line: String) {
        let at = self.start.elapsed();
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push((at, line));
    }

    /// Returns all lines, each with the seconds since the start.
    pub fn text(&self) -> String {
        self.of(|_| true, usize::MAX)
    }

    /// Returns the last lines that are faults or concern one job or link.
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
