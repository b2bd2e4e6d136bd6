//! Defines the question about a device's curve among those of other devices, and its answer.

use serde::{Deserialize, Serialize};

/// Asks for the live bytes over a whole trace, in columns of equal time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetStrip {
    pub device: u32,
    /// Number of columns.
    pub columns: u32,
}

/// Live bytes of a device over the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StripData {
    /// Times of the first and of the last event in microseconds of the process's clock; `None` if events have no times,
    /// and columns have equal numbers of events.
    pub clock_us: Option<(i64, i64)>,
    /// Highest live bytes of each column.
    pub bytes: Vec<u64>,
    /// Places of out-of-memory errors, from 0 to 1.
    pub ooms: Vec<f64>,
}
