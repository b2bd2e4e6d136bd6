//! Finds times without samples: a suspended machine, a clock that was set forward, or a file that is missing.

use super::super::log::{Clock, HostLog};

/// Shortest gap that counts, in milliseconds, and as a multiple of the usual interval.
const LEAST_MS: i64 = 60_000;
const LEAST_INTERVALS: i64 = 30;

/// Longest time without samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) struct Gap {
    /// Milliseconds from the sample before it to the one after it.
    pub(in crate::host) length_ms: i64,
    /// Milliseconds from the first sample of the log to the one before the gap.
    pub(in crate::host) after_ms: i64,
    /// Usual time from sample to sample in milliseconds, their median.
    pub(in crate::host) interval_ms: i64,
    pub(in crate::host) count: u64,
}

/// Returns the longest gap of a log with times; `None` if samples come regularly.
pub(super) fn longest(log: &HostLog) -> Option<Gap> {
    if log.clock == Clock::Samples || log.times_ms.len() < 8 {
        return None;
    }
    let intervals = || log.times_ms.windows(2).map(|pair| pair[1] - pair[0]);
    let mut sorted: Vec<i64> = intervals().collect();
    let middle = sorted.len() / 2;
    let interval_ms = *sorted.select_nth_unstable(middle).1;
    let least_ms = LEAST_MS.max(interval_ms.saturating_mul(LEAST_INTERVALS));
    let (before, length_ms) = intervals().enumerate().max_by_key(|(_, length_ms)| *length_ms)?;
    let count = intervals().filter(|length_ms| *length_ms >= least_ms).count() as u64;
    let after_ms = log.times_ms[before] - log.times_ms[0];
    (length_ms >= least_ms).then_some(Gap { length_ms, after_ms, interval_ms, count })
}
