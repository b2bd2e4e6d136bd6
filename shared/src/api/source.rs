//! Defines the document of `snapscope source --json`.

use crate::report::SourceReport;
use serde::Serialize;

/// Memory by source line, with the files of a folder that the lines are from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceDocument {
    #[serde(flatten)]
    pub report: SourceReport,
    /// Files of the report in the folder of `--source`, in the order of the report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundSource>,
}

/// File of the user's folder that has lines of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundSource {
    /// Path as stacks name it.
    pub path: String,
    /// Path of the file below the folder.
    pub file: String,
    /// Reason for which the lines are missing or doubtful.
    pub note: Option<String>,
    /// Text of the report's lines.
    pub lines: Vec<QuotedLine>,
}

/// Line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QuotedLine {
    /// Line number from 1.
    pub line: u64,
    pub text: String,
}
