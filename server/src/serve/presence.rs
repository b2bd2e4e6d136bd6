//! Determines which workers are alive.
//!
//! Clocks of several machines differ and jump. Therefore a worker is alive while its recorded time changes, whatever
//! the value, and this process measures the time without a change with its own monotonic clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::database::WorkerRow;

/// Observations of each worker.
#[derive(Debug)]
pub(crate) struct Presence {
    silence: Duration,
    seen: Mutex<HashMap<WorkerName, Seen>>,
}

/// A worker's name and one of its kinds of device.
type WorkerName = (String, String);

/// Recorded time of the last sign of life, and when that value was first seen.
type Seen = (i64, Instant);

impl Presence {
    /// Makes an empty table in which workers count as gone after `silence`.
    pub(crate) fn new(silence: Duration) -> Self {
        Self { silence, seen: Mutex::default() }
    }

    /// Returns the kinds of devices with living workers, `virtual` first; a newly seen worker counts as alive.
    pub(crate) fn kinds(&self, rows: Vec<WorkerRow>) -> Vec<String> {
        self.counts(rows).into_keys().rev().collect()
    }

    /// Counts the living workers per kind of device.
    pub(crate) fn counts(&self, rows: Vec<WorkerRow>) -> BTreeMap<String, u64> {
        self.counts_at(rows, Instant::now())
    }

    fn counts_at(&self, rows: Vec<WorkerRow>, now: Instant) -> BTreeMap<String, u64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = BTreeMap::new();
        let mut still = HashMap::new();
        for WorkerRow { name, kind, seen_ms } in rows {
            let worker = (name, kind);
            let last = seen.remove(&worker).filter(|(before, _)| *before == seen_ms).unwrap_or((seen_ms, now));
            if now.duration_since(last.1) < self.silence {
                *counts.entry(worker.1.clone()).or_default() += 1;
            }
            still.insert(worker, last);
        }
        *seen = still;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, kind: &str, seen_ms: i64) -> WorkerRow {
        WorkerRow { name: name.to_owned(), kind: kind.to_owned(), seen_ms }
    }

    #[test]
    fn whoever_changes_is_alive_whatever_the_clocks_say() {
        let presence = Presence::new(Duration::from_secs(15));
        let start = Instant::now();
        let check = |seconds: u64, rows: &[WorkerRow], kinds: &[&str]| {
            let counts = presence.counts_at(rows.to_vec(), start + Duration::from_secs(seconds));
            assert_eq!(counts.into_keys().rev().collect::<Vec<_>>(), kinds, "{seconds} s");
        };
        check(0, &[row("a", "virtual", 7), row("b", "cuda:0", 9_000)], &["virtual", "cuda:0"]);
        check(10, &[row("a", "virtual", 7), row("b", "cuda:0", 12)], &["virtual", "cuda:0"]);
        check(20, &[row("a", "virtual", 7), row("b", "cuda:0", 12)], &["cuda:0"]);
        check(40, &[row("a", "virtual", 7), row("b", "cuda:0", 12)], &[]);
        check(41, &[row("a", "virtual", 6), row("c", "virtual", 1)], &["virtual"]);
    }
}
