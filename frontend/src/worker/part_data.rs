//! What a worker says of a file before its events are there, and which of them the page wants.

use serde::{Deserialize, Serialize};
use shared::import::{Overview, OverviewDevice, Preview, PreviewTrace};
use std::ops::Range;

/// The curves of a file: of the part read so far, or all of it after a first pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewData {
    /// The devices with events, in the order of the file.
    pub devices: Vec<PreviewDevice>,
}

/// The curve of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewDevice {
    /// The CUDA index; the position among the devices with events while the file is being read.
    pub index: i64,
    /// Its events.
    pub events: u64,
    /// How many moments share a bucket.
    pub bucket_moments: u64,
    /// Live bytes before the first event; 0 while the file is being read, since only its end tells them.
    pub first_bytes: u64,
    /// The highest live bytes of each bucket, less those before the first event.
    pub highest_bytes: Vec<i64>,
    /// The first moment with the highest live bytes.
    pub peak_moment: u64,
}

/// Some events of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOrder {
    /// The CUDA index.
    pub device: i64,
    /// The first event.
    pub start: u64,
    /// One past the last event.
    pub end: u64,
}

/// Where the events of a device lie in the trace that they are a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPlace {
    /// The number of events before the part.
    pub first_event: u64,
    /// The number of events of the whole trace.
    pub total_events: u64,
}

impl PreviewData {
    /// What has been read so far.
    pub fn of_preview(preview: &Preview) -> Self {
        let devices = preview.traces.iter().zip(0..).map(|(trace, index)| PreviewDevice::new(index, 0, trace));
        Self { devices: devices.collect() }
    }

    /// What a first pass tells.
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

    /// The highest live bytes of some buckets, `None` without any there.
    pub fn highest_in(&self, events: Range<u64>) -> Option<u64> {
        let bucket = |moment: u64| (moment / self.bucket_moments.max(1)) as usize;
        let buckets = self.highest_bytes.get(bucket(events.start)..=bucket(events.end))?;
        let highest = buckets.iter().copied().max()?;
        Some((self.first_bytes as i64).saturating_add(highest).max(0) as u64)
    }
}
