//! Everything that the timeline of one device is drawn from.

use super::{AllocationId, Allocations, Axis, Picture, PictureRequest};
use crate::trace::{Device, Trace};

/// Lifetimes and curves of one device.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The lifetimes.
    pub allocations: Allocations,
    events: u32,
}

/// What lies under a point of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The allocation there.
    pub allocation: AllocationId,
    /// Bytes below it in the stack at that moment.
    pub below_bytes: u64,
    /// The moment.
    pub moment: u32,
}

impl Timeline {
    /// Pairs lifetimes and builds the curves of a device of the trace.
    pub fn new(_trace: &Trace, device: &Device) -> Self {
        Self { allocations: Allocations::pair(device), events: device.events.len() as u32 }
    }

    /// What a part of the timeline shows; `device` is the one that the timeline was built from.
    pub fn picture(&self, _device: &Device, _request: &PictureRequest) -> Picture {
        Picture::default()
    }

    /// The allocation at a height of the stack at a moment.
    pub fn hit(&self, _moment: u32, _bytes: u64) -> Option<Hit> {
        None
    }

    /// Whether events have times; without them the time axis is the event axis.
    pub fn has_times(&self) -> bool {
        false
    }

    /// The number of events; moments run from 0 to this number.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// The moment at a position of the axis, clamped to the trace.
    pub fn moment_at_x(&self, _device: &Device, _axis: Axis, x: f64) -> u32 {
        (x.max(0.0) as u32).min(self.events)
    }

    /// Where a moment begins on the axis.
    pub fn x_of_moment(&self, _device: &Device, _axis: Axis, moment: u32) -> f64 {
        f64::from(moment)
    }

    /// Where the last moment ends on the axis; the axis begins at 0.
    pub fn x_end(&self, _axis: Axis) -> f64 {
        f64::from(self.events) + 1.0
    }

    /// Live bytes at a moment.
    pub fn live_at(&self, _moment: u32) -> u64 {
        0
    }

    /// Reserved bytes at a moment.
    pub fn reserved_at(&self, _moment: u32) -> u64 {
        0
    }
}
