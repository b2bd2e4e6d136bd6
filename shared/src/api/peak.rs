//! The document of `snapscope peak --json`.

use serde::Serialize;

/// What is alive at the peak, or at another moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakReport {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// Live bytes there.
    pub live_bytes: u64,
    /// Reserved bytes there.
    pub reserved_bytes: u64,
    /// The number of live allocations there.
    pub allocations: u64,
    /// The groups that hold the most bytes, in descending order.
    pub groups: Vec<PeakGroup>,
    /// How many groups are left out.
    pub other_groups: u64,
    /// The bytes of the groups that are left out.
    pub other_bytes: u64,
}

/// The allocations of one stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakGroup {
    /// The sum of the requested sizes.
    pub bytes: u64,
    /// How many allocations they are.
    pub count: u64,
    /// How many of the bytes are from before the trace.
    pub initial_bytes: u64,
    /// What the stack is about, in a few words.
    pub title: String,
    /// The stack, innermost frame first.
    pub frames: Vec<FrameRow>,
}

/// One stack frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameRow {
    /// The function.
    pub name: String,
    /// The file.
    pub filename: String,
    /// The line.
    pub line: u64,
}
