//! Which workers there are.
//!
//! Clocks of several machines differ and jump: a worker is alive while the time that it notes changes, whatever that
//! time is; how long it has not changed is told by this process's own monotonic clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::database::WorkerRow;

/// What was seen of each worker.
#[derive(Debug)]
pub(crate) struct Presence {
    silence: Duration,
    seen: Mutex<HashMap<WorkerName, Seen>>,
}

/// A worker and what it takes.
type WorkerName = (String, String);

/// A sign of life, and when it was first seen.
type Seen = (i64, Instant);

impl Presence {
    /// Nobody was seen yet; whoever is silent for this long is gone.
    pub(crate) fn new(silence: Duration) -> Self {
        Self { silence, seen: Mutex::default() }
    }

    /// The kinds of devices whose workers are alive, virtual ones first; who is seen for the first time is.
    pub(crate) fn kinds(&self, rows: Vec<WorkerRow>) -> Vec<String> {
        self.counts(rows).into_keys().rev().collect()
    }

    /// How many workers are alive, by the kind of device.
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
