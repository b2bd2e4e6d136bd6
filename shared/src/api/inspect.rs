//! The document of `snapscope inspect --json`.

use serde::Serialize;
use std::collections::BTreeMap;

/// What a file is and what it adds up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file as it was named.
    pub file: String,
    /// How it is written.
    pub format: FormatName,
    /// One for each GPU index of the traces and of the segments, in ascending order.
    pub devices: Vec<DeviceFigures>,
    /// Pinned host memory, where the snapshot has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<DeviceFigures>,
    /// Distinct (name, filename, line) over segments, blocks, block histories and events.
    pub unique_frames: u64,
    /// Distinct lists of frames that are not empty, over the same.
    pub unique_stacks: u64,
    /// Entries of `external_annotations`.
    pub annotations: u64,
    /// What was odd but readable.
    pub diagnostics: Vec<DiagnosticRow>,
}

/// How a snapshot is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatName {
    /// `pickle`, `json`, `gzip` or `html`, by the outermost wrapping.
    pub container: &'static str,
    /// The pickle protocol, `null` for JSON.
    pub protocol: Option<u8>,
}

/// The figures of one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// The device index, -1 for host memory.
    pub device: i64,
    /// The number of events.
    pub events: u64,
    /// How many events there are of each action that occurs.
    pub actions: BTreeMap<&'static str, u64>,
    /// The number of segments at the end.
    pub segments: u64,
    /// The number of blocks at the end.
    pub blocks: u64,
    /// Bytes of segments at the end.
    pub reserved_bytes: u64,
    /// Rounded bytes of blocks in use at the end.
    pub allocated_bytes: u64,
    /// The same plus pending frees.
    pub active_bytes: u64,
    /// Live bytes before the first event.
    pub initial_bytes: u64,
    /// The highest live bytes.
    pub peak_live_bytes: u64,
    /// The first event after which live bytes are highest, -1 for the initial state.
    pub peak_event: i64,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    /// The highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Events that end a lifetime whose `alloc` is not in the trace.
    pub unmatched_frees: u64,
}

/// One kind of oddity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticRow {
    /// A stable name in kebab-case.
    pub code: &'static str,
    /// `info`, `warning` or `error`.
    pub severity: &'static str,
    /// How many times it was met.
    pub count: u64,
    /// What it means and what to do.
    pub message: String,
    /// Byte offset of the first case, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}
