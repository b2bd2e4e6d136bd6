//! Draws samples of the memory of several GPUs or processes on a common axis of times.

use shared::report::{LogCurves, LogSeries, MOST_TIMES, extremes};

/// Memory at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Time in milliseconds, ascending; since the Unix epoch if the log has dates.
    pub time_ms: i64,
    pub bytes: u64,
}

/// Returns the times and the values of curves, each with a name; `None` with fewer than two times.
pub(crate) fn sampled<'a>(rows: impl Iterator<Item = (String, &'a [Sample])>) -> Option<LogCurves> {
    let (names, rows): (Vec<String>, Vec<&[Sample]>) = rows.unzip();
    let mut times_ms: Vec<i64> = rows.iter().flat_map(|samples| samples.iter().map(|sample| sample.time_ms)).collect();
    times_ms.sort_unstable();
    times_ms.dedup();
    if times_ms.len() < 2 {
        return None;
    }
    let all: Vec<Vec<u64>> = rows.iter().map(|samples| at_times(samples, &times_ms)).collect();
    let total = |at: usize| all.iter().map(|bytes| bytes[at]).fold(0, u64::saturating_add);
    let shown = extremes(times_ms.len(), MOST_TIMES, total);
    let of =
        |(name, bytes): (String, &Vec<u64>)| LogSeries { name, bytes: shown.iter().map(|&at| bytes[at]).collect() };
    Some(LogCurves {
        times_us: shown.iter().map(|&at| times_ms[at].saturating_mul(1000)).collect(),
        series: names.into_iter().zip(&all).map(of).collect(),
        ..LogCurves::default()
    })
}

/// Returns the memory at each time: that of the last sample until then.
fn at_times(samples: &[Sample], times_ms: &[i64]) -> Vec<u64> {
    let mut samples = samples.iter().peekable();
    let mut bytes = 0;
    let at = |&time: &i64| {
        while let Some(sample) = samples.next_if(|sample| sample.time_ms <= time) {
            bytes = sample.bytes;
        }
        bytes
    };
    times_ms.iter().map(at).collect()
}
