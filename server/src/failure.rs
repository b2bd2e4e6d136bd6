//! Error type of the commands.

use std::path::Path;
use std::{fmt, io};

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

    /// Makes the failure of a file that cannot be written.
    pub(crate) fn writing(file: &Path, error: &io::Error) -> Self {
        Self::new(format!("{}: {error}", file.display()), "check the folder and its free space")
    }

    /// Makes the failure of a path that cannot be read; `kind` is `file` or `folder`.
    pub(crate) fn reading(path: &Path, error: &dyn fmt::Display, kind: &str) -> Self {
        Self::new(format!("{}: {error}", path.display()), format!("check the path and the permissions of the {kind}"))
    }

    /// Makes the failure of a program that cannot be started.
    pub(crate) fn starting(program: &dyn fmt::Display, error: &io::Error) -> Self {
        Self::new(format!("{program}: {error}"), "check the name of the program and that it may be run")
    }

    /// Makes the failure of a place for temporary files.
    pub(crate) fn temporary(error: &io::Error) -> Self {
        Self::new(format!("a temporary folder cannot be made: {error}"), "set TMPDIR to a folder with room")
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
