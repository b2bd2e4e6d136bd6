//! What was odd but readable.

/// How much a reader of the results should care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; no figure is affected.
    Info,
    /// Some figures are lower bounds or rest on an assumption that the message names.
    Warning,
    /// A part of the file could not be used.
    Error,
}

impl Severity {
    /// The name used in JSON and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One kind of oddity in a readable file, with how often it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable name in kebab-case, such as `recording-began-late`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Byte offset of the first case in the decoded pickle or text, where there is one.
    pub offset: Option<u64>,
    /// How many times it was met, at least 1.
    pub count: u64,
    /// A sentence on what it means and what the user can do.
    pub message: String,
}
