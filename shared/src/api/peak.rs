//! Defines the document of `snapscope peak --json`.

use crate::report::Frame;
use serde::Serialize;

/// Allocations alive at the peak, at another moment, or between two events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakReport {
    /// File as named on the command line.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    /// Event after which the live and reserved bytes hold, -1 for the initial state; in a range, that of its peak.
    pub event: i64,
    /// Live bytes after that event.
    pub live_bytes: u64,
    /// Reserved bytes after that event.
    pub reserved_bytes: u64,
    /// Requested range; `null` for a moment.
    pub range: Option<PeakRange>,
    /// Text by which allocations were filtered.
    pub filter: Option<String>,
    /// Property that the groups go by, as `--by` names it.
    pub by: String,
    /// Number of requested allocations; without a range and a filter, of all live ones.
    pub allocations: u64,
    /// Sum of their requested sizes.
    pub bytes: u64,
    /// Groups that hold the most bytes, in descending order.
    pub groups: Vec<PeakGroup>,
    /// Number of groups that are left out.
    pub other_groups: u64,
    /// Bytes of the groups that are left out; by frame or function, groups overlap, and so do their bytes.
    pub other_bytes: u64,
}

/// Range of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakRange {
    /// First event, -1 if the range begins with the initial state.
    pub from: i64,
    /// Last event.
    pub to: i64,
    /// Part of the allocations alive in it: `any`, `born`, `died`, `survived`, `born-and-died`, `born-and-kept`.
    pub part: String,
}

/// Allocations with a common stack, or with another common property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakGroup {
    /// Sum of the requested sizes.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
    /// Part of the bytes that is from before the trace.
    pub initial_bytes: u64,
    /// Title of the common property; for a stack, the title of the stack.
    pub title: String,
    /// Distinction from groups with the same title, such as the callers; may be empty.
    pub detail: String,
    /// Frames of the stack, innermost first, or the one frame; empty for other groups.
    pub frames: Vec<Frame>,
}
