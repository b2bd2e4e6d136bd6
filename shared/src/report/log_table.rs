//! Defines the tables and notices of a report on a log.

use crate::base::{Severity, format};
use serde::{Deserialize, Serialize};

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
