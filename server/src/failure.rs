//! Error type of the commands.

use std::fmt;

/// The reason why a command failed, with a hint for the person at the terminal.
///
/// It is printed on standard error; the exit status is then [`Failure::EXIT_STATUS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Description of what happened and where: a sentence without the full stop.
    pub message: String,
    /// Suggested remedy: a sentence without the full stop.
    pub hint: String,
}

impl Failure {
    /// Exit status of a failed command; 1 is reserved for commands that succeed with a bad result.
    pub const EXIT_STATUS: u8 = 2;

    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// Combines two failures, which are printed one after the other.
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
