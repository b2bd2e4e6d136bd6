//! Records the jumps of the processes' clock.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use server::database::now_ms;

/// Time until every process has seen a change of the clock.
const SLACK: Duration = Duration::from_secs(1);

const HOUR_MS: i64 = 3_600_000;

/// Times of the jumps, and the hours from the real time that the clock was set to.
#[derive(Debug, Default)]
pub(super) struct Jumps(Mutex<Vec<(Instant, i64)>>);

impl Jumps {
    /// Notes a jump at this moment.
    pub(super) fn jumped_to(&self, hours: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), hours));
    }

    /// Returns the earliest and the latest time that a process may have read since `since`, in milliseconds since 1970.
    pub(super) fn times_since(&self, since: Instant) -> (i64, i64) {
        let since = since.checked_sub(SLACK).unwrap_or(since);
        let jumps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = jumps.iter().rev().find(|(at, _)| *at < since).map_or(0, |(_, hours)| *hours);
        let later = jumps.iter().filter(|(at, _)| *at >= since).map(|(_, hours)| *hours);
        let hours: Vec<i64> = later.chain([before]).collect();
        let real_ms = now_ms();
        let earliest = hours.iter().min().expect("at least one") * HOUR_MS - since.elapsed().as_millis() as i64;
        let latest = hours.iter().max().expect("at least one") * HOUR_MS;
        (real_ms + earliest, real_ms + latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_between_its_jumps() {
        let jumps = Jumps::default();
        let start = Instant::now();
        let hours = |ms: i64| ((ms - now_ms()) as f64 / HOUR_MS as f64).round() as i64;
        let hours = |(earliest, latest)| (hours(earliest), hours(latest));
        assert_eq!(hours(jumps.times_since(start)), (0, 0));
        jumps.jumped_to(25);
        jumps.jumped_to(-5);
        assert_eq!(hours(jumps.times_since(start)), (-5, 25));
        let later = Instant::now() + 2 * SLACK;
        assert_eq!(hours(jumps.times_since(later)), (-5, -5));
    }
}
