//! Counts the recordings of this process and measures their time and memory.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds in seconds, from the smallest model to the default time limit of a job.
const SECONDS: [f64; 9] = [0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 240.0, 900.0, 1800.0];

/// Upper bounds in bytes of host memory.
const BYTES: [f64; 7] = [GIB / 4.0, GIB / 2.0, GIB, 2.0 * GIB, 4.0 * GIB, 8.0 * GIB, 16.0 * GIB];
const GIB: f64 = (1_u64 << 30) as f64;

#[derive(Debug)]
pub struct RecorderMetrics {
    outcomes: Family<[(&'static str, &'static str); 1], Counter>,
    seconds: Histogram,
    memory_bytes: Histogram,
}

impl Default for RecorderMetrics {
    fn default() -> Self {
        Self { outcomes: Family::default(), seconds: Histogram::new(SECONDS), memory_bytes: Histogram::new(BYTES) }
    }
}

impl RecorderMetrics {
    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Recordings started by this process, by outcome";
        registry.register("recordings", help, self.outcomes.clone());
        let help = "Time from the start of a recorder to its end";
        registry.register_with_unit("recording_duration", help, Unit::Seconds, self.seconds.clone());
        let help = "Peak host memory of a recorder";
        registry.register_with_unit("recorder_memory", help, Unit::Bytes, self.memory_bytes.clone());
    }

    /// Counts the end of a recording by its outcome.
    pub(super) fn ended(&self, outcome: &'static str) {
        self.outcomes.get_or_create(&[("outcome", outcome)]).inc();
    }

    /// Records the time and memory of a recorder that has ended.
    pub(super) fn took(&self, seconds: f64, memory_bytes: u64) {
        self.seconds.observe(seconds);
        self.memory_bytes.observe(memory_bytes as f64);
    }
}
