//! Defines the document of `snapscope inspect --json`.

use crate::base::Diagnostic;
use crate::report::Summary;
use serde::Serialize;

/// Format and figures of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// File as named on the command line.
    pub file: String,
    pub format: FormatName,
    /// Figures for each GPU index of the traces and of the segments, in ascending order.
    pub devices: Vec<Summary>,
    /// Figures of pinned host memory, if the snapshot has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Summary>,
    /// Number of distinct frames (name, filename, line) in segments, blocks, block histories and events.
    pub unique_frames: u64,
    /// Number of distinct lists of frames in them that are not empty.
    pub unique_stacks: u64,
    /// Number of entries of `external_annotations`.
    pub annotations: u64,
    /// Oddities that did not prevent reading.
    pub diagnostics: Vec<Diagnostic>,
}

/// Format of a snapshot file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatName {
    /// Outermost format: `pickle`, `json`, `gzip` or `html`.
    pub container: &'static str,
    /// Pickle protocol, `null` for JSON.
    pub protocol: Option<u8>,
}
