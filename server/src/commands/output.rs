//! What a command leaves: texts for standard output and standard error, and an exit status.

use serde::Serialize;

use crate::Failure;

/// What a command prints, and its exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub text: String,
    pub stderr: String,
    pub status: u8,
}

impl Output {
    /// The text of a command that some files could not be read for: their failures set the exit status.
    pub(super) fn without(unread: &[Failure], text: String, status: u8) -> Self {
        let stderr: String = unread.iter().map(|failure| format!("{failure}\n")).collect();
        Self { text, stderr, status: if unread.is_empty() { status } else { Failure::EXIT_STATUS } }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<Failure> for Output {
    fn from(failure: Failure) -> Self {
        Self::without(&[failure], String::new(), 0)
    }
}

/// Returns the document of `--json`.
pub(super) fn document(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("plain data can be written") + "\n"
}
