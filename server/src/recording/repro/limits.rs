//! Defines the limits of a recording.

use std::time::Duration;

/// Limits beyond which a recording is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from the start of the recorder to its end.
    pub time: Duration,
    /// Resident host memory of the recorder, in bytes.
    ///
    /// Address space is not limited, because a virtual GPU reserves a tebibyte of it per card.
    pub memory_bytes: u64,
    /// Size of a file that the recorder writes, in bytes.
    pub output_bytes: u64,
    /// Niceness of the recorder: 0 for normal priority, 19 for the lowest.
    pub niceness: i32,
    /// Time that the recorder has to end by itself once it is asked to.
    pub grace: Duration,
}

impl Default for Limits {
    /// Returns limits for any config that a desktop can record; a server sets its own.
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
