//! The document of `snapscope peak --json`.

use crate::report::Frame;
use serde::Serialize;

/// What is alive at the peak, at another moment, or between two events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakReport {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The event after which live and reserved bytes hold, -1 for the initial state; in a range that of its peak.
    pub event: i64,
    /// Live bytes there.
    pub live_bytes: u64,
    /// Reserved bytes there.
    pub reserved_bytes: u64,
    /// The range that was asked for instead of a moment.
    pub range: Option<PeakRange>,
    /// The text that allocations were filtered by.
    pub filter: Option<String>,
    /// What the groups go by.
    pub by: String,
    /// The number of allocations that were asked for, at the peak all live ones.
    pub allocations: u64,
    /// The sum of their requested sizes.
    pub bytes: u64,
    /// The groups that hold the most bytes, in descending order.
    pub groups: Vec<PeakGroup>,
    /// How many groups are left out.
    pub other_groups: u64,
    /// The bytes of the groups that are left out; by frame or function, groups overlap and so do their bytes.
    pub other_bytes: u64,
}

/// A range of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakRange {
    /// The first event, -1 where it begins with the initial state.
    pub from: i64,
    /// The last event.
    pub to: i64,
    /// Which of the allocations alive there: `any`, `born`, `died`, `survived`, `born-and-died`, `born-and-kept`.
    pub part: String,
}

/// The allocations that have a stack in common, or whatever the groups go by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakGroup {
    /// The sum of the requested sizes.
    pub bytes: u64,
    /// How many allocations they are.
    pub count: u64,
    /// How many of the bytes are from before the trace.
    pub initial_bytes: u64,
    /// What they have in common, in a few words; for stacks what the stack is about.
    pub title: String,
    /// What tells them from groups of the same title, such as their callers, or empty.
    pub detail: String,
    /// The stack, innermost frame first, or the one frame; empty for other groups.
    pub frames: Vec<Frame>,
}
