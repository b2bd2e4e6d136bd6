//! Defines the report on a log: curves of memory over time, findings, tables and notices.

use super::diagnosis::Diagnosis;
use super::log_curves::LogCurves;
use crate::base::{Severity, format};
use serde::{Deserialize, Serialize};

/// Report on a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Kind of the log, and how much it has, such as `Host memory, ps: 250 samples of 8 processes in 2 h 5 min`.
    pub title: String,
    /// Facts that belong to the title, such as the memory of the machine.
    pub facts: Vec<String>,
    /// Curves of the whole log, one chart each.
    pub curves: Vec<LogCurves>,
    /// Memory of a GPU by owner, for each of the first out-of-memory errors, and at the end of a log of nvidia-smi.
    pub owners: Vec<LogOwners>,
    pub diagnosis: Diagnosis,
    pub tables: Vec<LogTable>,
    /// What was odd or left out.
    pub notices: Vec<LogNotice>,
}

impl LogReport {
    /// Returns true if the log says nothing about memory.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.diagnosis.findings.is_empty() && self.tables.is_empty()
    }
}

/// Memory of a GPU by owner at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOwners {
    /// GPU and request.
    pub title: String,
    pub capacity_bytes: u64,
    /// Owners with their bytes, the free memory last.
    pub parts: Vec<LogOwner>,
}

/// Owner of a part of a GPU's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOwner {
    pub name: String,
    pub bytes: u64,
}

/// Table with a head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogTable {
    pub title: String,
    pub columns: Vec<String>,
    /// Rows with a cell for each column.
    pub rows: Vec<Vec<LogCell>>,
    /// Number of further rows that were left out.
    pub left_out: u64,
}

impl LogTable {
    /// Creates a table; the report cuts it if it is too long.
    pub fn new(
        title: impl Into<String>,
        columns: impl IntoIterator<Item: Into<String>>,
        rows: impl IntoIterator<Item = Vec<LogCell>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), columns, rows: rows.into_iter().collect(), left_out: 0 }
    }
}

/// Cell of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogCell {
    Text(String),
    Bytes(u64),
    Count(u64),
    /// Not known.
    Nothing,
}

impl LogCell {
    /// Formats the cell for people.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Bytes(size) => format::bytes(*size),
            Self::Count(number) => number.to_string(),
            Self::Nothing => "–".to_owned(),
        }
    }
}

/// Something odd in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogNotice {
    pub severity: Severity,
    pub message: String,
}

impl LogNotice {
    /// Creates a notice of what is missing or damaged.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, message: message.into() }
    }

    /// Creates a notice of what is worth knowing.
    pub fn info(message: impl Into<String>) -> Self {
        Self { severity: Severity::Info, message: message.into() }
    }
}
