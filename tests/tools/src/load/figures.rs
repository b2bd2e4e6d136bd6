//! Summarizes the times of requests for a table.

use std::time::Duration;

use crate::bench::percentile;
/// Times of one kind of request, and the number of failed ones.
#[derive(Debug, Default)]
pub(super) struct Times {
    answered: Vec<Duration>,
    errors: usize,
}

impl Times {
    pub(super) fn note(&mut self, time: Duration, is_fine: bool) {
        if is_fine {
            self.answered.push(time);
        } else {
            self.errors += 1;
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.answered.extend(other.answered);
        self.errors += other.errors;
    }

    /// Returns requests per second, median, p95, p99, maximum and errors.
    pub(super) fn cells(self, during: Duration) -> Vec<String> {
        let all: Vec<f64> = self.answered.iter().map(Duration::as_secs_f64).collect();
        let at = |share: f64| match all.is_empty() {
            true => "none".to_owned(),
            false => milliseconds(Duration::from_secs_f64(percentile(&all, share))),
        };
        let rate = self.answered.len() as f64 / during.as_secs_f64();
        vec![format!("{rate:.0}"), at(0.5), at(0.95), at(0.99), at(1.0), self.errors.to_string()]
    }
}

pub(super) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_those_that_were_answered() {
        let mut times = Times::default();
        for time in (1..=100).rev() {
            times.note(Duration::from_millis(time), true);
        }
        let mut failed = Times::default();
        failed.note(Duration::from_secs(9), false);
        times.add(failed);
        assert_eq!(times.cells(Duration::from_secs(2)), ["50", "51.0 ms", "95.0 ms", "99.0 ms", "100.0 ms", "1"]);
        assert_eq!(Times::default().cells(Duration::from_secs(1))[1], "none");
    }
}
