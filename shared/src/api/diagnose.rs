//! The document of `snapscope diagnose --json`.

use super::FrameRow;
use serde::Serialize;

/// Everything that was found, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiagnoseReport {
    /// The findings of all files.
    pub findings: Vec<FindingRow>,
}

/// One diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// The file as it was named.
    pub file: String,
    /// A stable name in kebab-case, such as `graphs-kept`.
    pub code: &'static str,
    /// `info`, `warning` or `error`: how much it matters.
    pub severity: &'static str,
    /// `low`, `medium` or `high`: how sure the cause is.
    pub confidence: &'static str,
    /// The device index.
    pub device: i64,
    /// The bytes that it is about: a step's for what grows.
    pub bytes: u64,
    /// What is there.
    pub title: String,
    /// What shows it.
    pub evidence: EvidenceRow,
    /// What to do.
    pub advice: String,
}

/// What shows a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceRow {
    /// How it was reached.
    pub shows: String,
    /// Events to look at, by index.
    pub events: Vec<u32>,
    /// Stacks to look at, each innermost frame first.
    pub stacks: Vec<Vec<FrameRow>>,
}
