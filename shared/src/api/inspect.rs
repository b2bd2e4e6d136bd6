//! Defines the document of `snapscope inspect --json`.

use serde::Serialize;
use std::collections::BTreeMap;

/// Format and figures of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// File as named on the command line.
    pub file: String,
    pub format: FormatName,
    /// Figures for each GPU index of the traces and of the segments, in ascending order.
    pub devices: Vec<DeviceFigures>,
    /// Figures of pinned host memory, if the snapshot has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<DeviceFigures>,
    /// Number of distinct frames (name, filename, line) in segments, blocks, block histories and events.
    pub unique_frames: u64,
    /// Number of distinct lists of frames in them that are not empty.
    pub unique_stacks: u64,
    /// Number of entries of `external_annotations`.
    pub annotations: u64,
    /// Oddities that did not prevent reading.
    pub diagnostics: Vec<DiagnosticRow>,
}

/// Format of a snapshot file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatName {
    /// Outermost format: `pickle`, `json`, `gzip` or `html`.
    pub container: &'static str,
    /// Pickle protocol, `null` for JSON.
    pub protocol: Option<u8>,
}

/// Figures of one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// CUDA index, -1 for host memory.
    pub device: i64,
    pub events: u64,
    /// Number of events of each action that occurs.
    pub actions: BTreeMap<&'static str, u64>,
    /// Number of segments at the end.
    pub segments: u64,
    /// Number of blocks at the end.
    pub blocks: u64,
    /// Bytes of segments at the end.
    pub reserved_bytes: u64,
    /// Rounded bytes of blocks in use at the end.
    pub allocated_bytes: u64,
    /// Rounded bytes of blocks in use at the end, plus those of pending frees.
    pub active_bytes: u64,
    /// Live bytes before the first event.
    pub initial_bytes: u64,
    pub peak_live_bytes: u64,
    /// First event after which live bytes are highest, -1 for the initial state.
    pub peak_event: i64,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    /// Highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Number of events that free an allocation whose `alloc` is not in the trace.
    pub unmatched_frees: u64,
}

/// One kind of oddity in a file or a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticRow {
    /// Stable name in kebab-case.
    pub code: &'static str,
    /// `info`, `warning` or `error`.
    pub severity: &'static str,
    /// Number of occurrences.
    pub count: u64,
    /// Meaning and advice.
    pub message: String,
    /// Byte offset of the first occurrence, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}
