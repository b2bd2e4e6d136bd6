//! Sums the kernels that operators launch.

use super::spans::Span;
use super::transfers::{Call, CallKind};
use crate::base::StringId;
use hashbrown::HashMap;

/// Kernel that the GPU ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    /// Number that the kernel shares with its launch.
    pub(super) correlation: u64,
    pub(super) name: StringId,
    pub(super) start_us: f64,
    pub(super) duration_us: f64,
}

/// Kernels by the thread and the time of their launches.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    /// Launches of each thread in the order of their times, each with the sum of kernels before it.
    launches: HashMap<u64, Vec<(f64, f64)>>,
    /// Sum of all kernels of each thread.
    sums: HashMap<u64, f64>,
}

impl Kernels {
    /// Finds the launch of each kernel; `calls` are in the order of their times.
    pub(super) fn new(calls: &[Call], kernels: &[Kernel]) -> Self {
        let durations: HashMap<u64, f64> =
            kernels.iter().map(|kernel| (kernel.correlation, kernel.duration_us)).collect();
        let mut all = Self::default();
        for call in calls.iter().filter(|call| call.kind == CallKind::Launch) {
            let Some(duration_us) = durations.get(&call.correlation) else { continue };
            let sum = all.sums.entry(call.thread).or_default();
            all.launches.entry(call.thread).or_default().push((call.start_us, *sum));
            *sum += duration_us;
        }
        all
    }

    /// Returns the time of the kernels that the thread of a span launched within it, in microseconds.
    pub(super) fn within(&self, span: &Span) -> f64 {
        let Some(launches) = self.launches.get(&span.thread) else { return 0.0 };
        let sum_before = |position: usize| {
            launches.get(position).map_or_else(|| self.sums.get(&span.thread).copied().unwrap_or(0.0), |(_, sum)| *sum)
        };
        let start = launches.partition_point(|(time_us, _)| *time_us < span.start_us);
        let end = launches.partition_point(|(time_us, _)| *time_us <= span.end_us);
        sum_before(end) - sum_before(start)
    }
}
