//! One device's part of a snapshot.

use super::{EventTable, SegmentTable};

/// One device's trace and its final state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// The CUDA device index; -1 for pinned host memory.
    pub index: i64,
    /// The recorded events in their order.
    pub events: EventTable,
    /// The segments and blocks at the moment of the snapshot.
    pub segments: SegmentTable,
}
