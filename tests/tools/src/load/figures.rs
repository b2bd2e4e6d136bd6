//! Summarizes the times of requests for a table.

use std::time::Duration;

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

    /// Adds the times of another client.
    pub(super) fn add(&mut self, other: Self) {
        self.answered.extend(other.answered);
        self.errors += other.errors;
    }

    /// Returns requests per second, median, p95, p99, maximum and errors.
    pub(super) fn cells(mut self, during: Duration) -> Vec<String> {
        self.answered.sort_unstable();
        let at = |share: f64| {
            let index = (self.answered.len().saturating_sub(1) as f64 * share).round() as usize;
            self.answered.get(index).copied().map_or_else(|| "none".to_owned(), milliseconds)
        };
        let rate = self.answered.len() as f64 / during.as_secs_f64();
        vec![format!("{rate:.0}"), at(0.5), at(0.95), at(0.99), at(1.0), self.errors.to_string()]
    }
}

/// Formats a time for a table.
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
