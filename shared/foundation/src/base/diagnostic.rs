//! Diagnostics: oddities of a file that can still be read.

use serde::Serialize;

/// Importance of a diagnostic to someone who reads the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; no figure is affected.
    #[default]
    Info,
    /// Some figures are lower bounds, or rest on an assumption that the message names.
    Warning,
    /// A part of the file could not be used.
    Error,
}

crate::names!(Severity {
    Info => "info",
    Warning => "warning",
    Error => "error",
});

/// One kind of oddity in a readable file, with its number of occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable name in kebab-case, such as `recording-began-late`.
    pub code: &'static str,
    pub severity: Severity,
    /// Number of occurrences, at least 1.
    pub count: u64,
    /// Sentence that says what it means and what the user can do.
    pub message: String,
    /// Byte offset of the first occurrence in the decoded pickle or text, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

impl Diagnostic {
    /// Creates a diagnostic without an offset.
    pub fn new(severity: Severity, code: &'static str, count: u64, message: impl Into<String>) -> Self {
        Self { code, severity, count, message: message.into(), offset: None }
    }
}
