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

/// Kinds of devices with living workers.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    /// Number of workers that record on a kind: `virtual`, or a real device such as `cuda:0`.
    pub(crate) workers: BTreeMap<String, u64>,
    /// Reason why none of the workers of a kind can record.
    pub(crate) problems: BTreeMap<String, String>,
}

impl Devices {
    /// Returns the kinds on which jobs are recorded, `virtual` first.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.workers.keys().rev().cloned().collect()
    }
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

    /// Returns the living workers by kind of device; a newly seen worker counts as alive.
    pub(crate) fn alive(&self, rows: Vec<WorkerRow>) -> Devices {
        self.alive_at(rows, Instant::now())
    }

    fn alive_at(&self, rows: Vec<WorkerRow>, now: Instant) -> Devices {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut devices = Devices::default();
        let mut still = HashMap::new();
        for WorkerRow { name, kind, seen_ms, problem } in rows {
            let worker = (name, kind.clone());
            let last = seen.remove(&worker).filter(|(before, _)| *before == seen_ms).unwrap_or((seen_ms, now));
            if now.duration_since(last.1) < self.silence {
                match problem {
                    None => *devices.workers.entry(kind).or_default() += 1,
                    Some(problem) => drop(devices.problems.insert(kind, problem)),
                }
            }
            still.insert(worker, last);
        }
        *seen = still;
        devices.problems.retain(|kind, _| !devices.workers.contains_key(kind));
        devices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, kind: &str, seen_ms: i64) -> WorkerRow {
        WorkerRow { name: name.to_owned(), kind: kind.to_owned(), seen_ms, problem: None }
    }

    #[test]
    fn whoever_changes_is_alive_whatever_the_clocks_say() {
        let presence = Presence::new(Duration::from_secs(15));
        let start = Instant::now();
        for (seconds, rows, kinds) in [
            (0, [row("a", "virtual", 7), row("b", "cuda:0", 9_000)], &["virtual", "cuda:0"][..]),
            (10, [row("a", "virtual", 7), row("b", "cuda:0", 12)], &["virtual", "cuda:0"]),
            (20, [row("a", "virtual", 7), row("b", "cuda:0", 12)], &["cuda:0"]),
            (40, [row("a", "virtual", 7), row("b", "cuda:0", 12)], &[]),
            (41, [row("a", "virtual", 6), row("c", "virtual", 1)], &["virtual"]),
        ] {
            let devices = presence.alive_at(rows.to_vec(), start + Duration::from_secs(seconds));
            assert_eq!(devices.kinds(), kinds, "{seconds} s");
        }
    }

    #[test]
    fn a_kind_has_a_problem_if_no_worker_is_without() {
        let presence = Presence::new(Duration::from_secs(15));
        let broken = |name: &str| WorkerRow { problem: Some("no driver".to_owned()), ..row(name, "cuda:0", 1) };
        let devices = presence.alive(vec![row("a", "virtual", 1), broken("a"), broken("b")]);
        assert_eq!(devices.kinds(), ["virtual"]);
        assert_eq!(devices.problems, BTreeMap::from([("cuda:0".to_owned(), "no driver".to_owned())]));
        let devices = presence.alive(vec![broken("a"), row("c", "cuda:0", 1)]);
        assert_eq!((devices.kinds(), devices.problems.len()), (vec!["cuda:0".to_owned()], 0));
    }
}
