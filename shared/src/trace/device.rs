//! The part of a snapshot that belongs to one device.

use super::{EventTable, PartOf, SegmentTable};

/// Trace and final state of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// CUDA device index; -1 for pinned host memory.
    pub index: i64,
    /// Recorded events, in order.
    pub events: EventTable,
    /// Segments and blocks at the time of the snapshot, or at the end of the part.
    pub segments: SegmentTable,
    /// Facts about the rest of the trace, if the events are only a part of it.
    pub part: Option<Box<PartOf>>,
}
