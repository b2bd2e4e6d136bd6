//! Defines what commands say about a file with `--json`, and the list of files that `snapscope open` has for the page.

use crate::base::Diagnostic;
use crate::report::{Diagnosis, Finding, Growth, LogOwners, LogTable, RunOfDevice, SourceReport, Summary};
use serde::{Deserialize, Serialize};

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

/// Diagnoses of several files in one document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiagnoseReport {
    /// Kind of run of each device with memory in use.
    pub runs: Vec<OfFile<RunOfDevice>>,
    /// Findings file by file, the most important of each first.
    pub findings: Vec<OfFile<Finding>>,
    /// Memory that stays after the steps, for each device that has steps or calls of a model.
    pub growth: Vec<OfFile<Growth>>,
    /// Oddities of logs, such as lines that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<OfFile<Diagnostic>>,
    /// Memory of GPUs by owner, as the out-of-memory errors of logs state it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<OfFile<LogOwners>>,
    /// Tables of logs: their errors, counters and processes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<OfFile<LogTable>>,
}

/// Report with the file that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfFile<T> {
    /// File as named on the command line; for a comparison of files, all of them with arrows between them.
    pub file: String,
    #[serde(flatten)]
    pub report: T,
}

impl DiagnoseReport {
    pub fn add(&mut self, file: &str, diagnosis: Diagnosis) {
        let Diagnosis { runs, findings, growth } = diagnosis;
        self.runs.extend(runs.into_iter().map(|report| OfFile::new(file, report)));
        self.findings.extend(findings.into_iter().map(|report| OfFile::new(file, report)));
        self.growth.extend(growth.into_iter().map(|report| OfFile::new(file, report)));
    }
}

impl<T> OfFile<T> {
    pub fn new(file: &str, report: T) -> Self {
        Self { file: file.to_owned(), report }
    }
}

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

/// Files in the order of the command line: the answer of `GET api/v1/files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedFiles {
    pub files: Vec<OpenedFile>,
}

/// File whose bytes are at `api/v1/files/N`, where `N` is its position in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedFile {
    /// Name without its folders.
    pub name: String,
    /// Size in bytes, as of the time of the answer.
    pub size_bytes: u64,
}
