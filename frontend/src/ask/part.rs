//! Defines the messages about a file before its events are loaded, and the choice of a part of it.

use serde::{Deserialize, Serialize};
use shared::import::{Overview, OverviewDevice, Preview, PreviewTrace};
use std::ops::Range;

/// Curves of a file: of the part read so far, or of all of it after a first pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewData {
    /// Devices with events, in the order of the file.
    pub devices: Vec<PreviewDevice>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewDevice {
    /// CUDA index; while the file is being read, the position among the devices with events.
    pub index: i64,
    pub events: u64,
    /// Number of moments per bucket.
    pub bucket_moments: u64,
    /// Live bytes before the first event; 0 while the file is being read, because only its end records them.
    pub first_bytes: u64,
    /// Highest live bytes of each bucket minus those before the first event.
    pub highest_bytes: Vec<i64>,
    /// First moment with the highest live bytes.
    pub peak_moment: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOrder {
    /// CUDA index.
    pub device: i64,
    pub start: u64,
    /// Index after the last event.
    pub end: u64,
}

/// Position of a device's events in the trace of which they are a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPlace {
    /// Number of events before the part.
    pub first_event: u64,
    /// Number of events of the whole trace.
    pub total_events: u64,
}

impl PreviewData {
    /// Converts the preview of what has been read so far.
    pub fn of_preview(preview: &Preview) -> Self {
        let devices = preview.traces.iter().zip(0..).map(|(trace, index)| PreviewDevice::new(index, 0, trace));
        Self { devices: devices.collect() }
    }

    /// Converts the result of a first pass.
    pub fn of_overview(overview: &Overview) -> Self {
        let device = |found: &OverviewDevice| PreviewDevice::new(found.index, found.first_live_bytes, &found.trace);
        Self { devices: overview.devices.iter().map(device).collect() }
    }
}

impl PreviewDevice {
    fn new(index: i64, first_bytes: u64, trace: &PreviewTrace) -> Self {
        Self {
            index,
            events: trace.events,
            bucket_moments: trace.bucket_moments,
            first_bytes,
            highest_bytes: trace.highest_bytes.clone(),
            peak_moment: trace.peak_moment,
        }
    }

    /// Returns the highest live bytes of the buckets that cover some events, `None` if one is missing.
    pub fn highest_in(&self, events: Range<u64>) -> Option<u64> {
        let bucket = |moment: u64| (moment / self.bucket_moments.max(1)) as usize;
        let buckets = self.highest_bytes.get(bucket(events.start)..=bucket(events.end))?;
        let highest = buckets.iter().copied().max()?;
        Some((self.first_bytes as i64).saturating_add(highest).max(0) as u64)
    }
}
