//! One device's part of a snapshot.

use super::{EventTable, PartOf, SegmentTable};

/// One device's trace and its final state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// The CUDA device index; -1 for pinned host memory.
    pub index: i64,
    /// The recorded events in their order.
    pub events: EventTable,
    /// The segments and blocks at the moment of the snapshot, or at the end of the part.
    pub segments: SegmentTable,
    /// Where the events are a part of a longer trace, what is known of the rest.
    pub part: Option<Box<PartOf>>,
}
