//! Everything that the timeline of one device is drawn from.

use super::{AllocationId, Allocations, Curve, Picture, PictureRequest};
use crate::trace::Device;

/// Lifetimes and curves of one device.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The lifetimes.
    pub allocations: Allocations,
    /// Live bytes at each moment.
    pub live: Curve,
    /// Reserved bytes at each moment.
    pub reserved: Curve,
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
    /// Pairs lifetimes and builds the curves of a device.
    pub fn new(device: &Device) -> Self {
        Self { allocations: Allocations::pair(device), ..Self::default() }
    }

    /// What a part of the timeline shows.
    pub fn picture(&self, _request: &PictureRequest) -> Picture {
        Picture::default()
    }

    /// The allocation at a height of the stack at a moment.
    pub fn hit(&self, _moment: u32, _bytes: u64) -> Option<Hit> {
        None
    }
}
