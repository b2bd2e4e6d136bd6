//! What a command says when it cannot do its work.

use std::fmt;

/// Why a command could not do its work, and what the person at the terminal can do.
///
/// Printed on standard error; the exit status is then [`Failure::EXIT_STATUS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened, and where: a sentence without the full stop.
    pub message: String,
    /// What to do about it: a sentence without the full stop.
    pub hint: String,
}

impl Failure {
    /// The exit status of a command that failed: 1 stays free for "done, and the answer is bad".
    pub const EXIT_STATUS: u8 = 2;

    /// A failure with its message and its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// This failure and another one, printed one after the other.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self { message: format!("{}\n hint: {}\nerror: {}", self.message, self.hint, other.message), ..other.clone() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n hint: {}", self.message, self.hint)
    }
}

impl std::error::Error for Failure {}
