//! Defines the document of `snapscope diagnose --json`.

use crate::base::Diagnostic;
use crate::report::{Diagnosis, Finding, Growth, LogOwners, LogTable, RunOfDevice};
use serde::Serialize;

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
