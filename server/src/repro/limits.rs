//! What a recording may take.

use std::time::Duration;

/// What a recording may take before it is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from the start of the recorder to its end.
    pub time: Duration,
    /// Resident host memory of the recorder, in bytes.
    ///
    /// Address space says nothing: a virtual GPU reserves a tebibyte of it for each card.
    pub memory_bytes: u64,
    /// Size of a file that the recorder writes, in bytes.
    pub output_bytes: u64,
    /// How much the recorder steps back for other processes, as `nice` counts it: 0 not at all, 19 as far as it goes.
    pub niceness: i32,
    /// How long the recorder may take to end by itself once it is asked to.
    pub grace: Duration,
}

impl Default for Limits {
    /// Enough for any config that a desktop can record; a server sets its own.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(3600),
            memory_bytes: 16 << 30,
            output_bytes: 16 << 30,
            niceness: 0,
            grace: Duration::from_secs(5),
        }
    }
}
