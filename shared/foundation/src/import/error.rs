//! Errors of files that can't be read as a snapshot.

use crate::base::format;
use crate::pickle;
use std::fmt;

/// Error of a file, with its position and advice for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Stable code for programs, such as `git-lfs-pointer`.
    pub code: &'static str,
    /// Byte offset after unpacking gzip and base64, if it is known and helps.
    pub offset: Option<u64>,
    /// One sentence without its full stop that says what is wrong, or what the file is.
    pub message: String,
    /// One or two sentences that say what the user can do.
    pub hint: String,
}

impl ImportError {
    pub(super) fn new(code: &'static str, message: impl Into<String>, hint: &str) -> Self {
        Self { code, offset: None, message: message.into(), hint: hint.to_owned() }
    }

    pub(super) fn at(self, offset: u64) -> Self {
        Self { offset: Some(offset), ..self }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match self.offset {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ImportError {}

/// The file ends before its content does.
pub(super) const CUT_OFF: &str = "cut-off";
/// The bytes violate the file format.
pub(super) const DAMAGED: &str = "damaged";
/// The file exceeds a limit that no recorder reaches.
pub(super) const OVER_A_LIMIT: &str = "over-a-limit";
/// The pickle asks for Python objects.
const WITH_OBJECTS: &str = "pickle-with-objects";

pub(super) const HINT_WRITE: &str = "To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
pub(super) const HINT_CUT: &str = "The file appears to be truncated. Copy it again, or check that the training process \
     kept running until the dump was complete.";
const HINT_DAMAGED: &str = "The file appears to be damaged. Copy it again in binary mode, or record a new snapshot.";
const HINT_OBJECTS: &str = "A memory snapshot contains only plain data, and Snapscope never loads anything else. This \
     file is probably a checkpoint or another pickled Python object.";
pub(super) const HINT_LIMIT: &str = "PyTorch does not write files like this. If the file is genuine, please report it.";
const HINT_PROTOCOL: &str = "Pickle it with protocol 5 or lower.";

impl From<pickle::Error> for ImportError {
    fn from(error: pickle::Error) -> Self {
        use pickle::ErrorKind;
        let (code, hint) = match &error.kind {
            ErrorKind::Truncated { .. } => (CUT_OFF, HINT_CUT),
            ErrorKind::Refused { .. } => (WITH_OBJECTS, HINT_OBJECTS),
            ErrorKind::UnknownProtocol(_) => ("unknown-protocol", HINT_PROTOCOL),
            ErrorKind::UnknownOpcode(_) | ErrorKind::Unexpected { .. } => (DAMAGED, HINT_DAMAGED),
            ErrorKind::Limit { .. } => (OVER_A_LIMIT, HINT_LIMIT),
        };
        Self::new(code, capitalised(&error.kind.to_string()), hint).at(error.offset)
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Maximum number of devices of a snapshot; PyTorch numbers them in eight bits.
pub(super) const MOST_DEVICES: usize = 1024;

pub(super) fn too_many_devices() -> ImportError {
    let message = format!("The snapshot has more than {} devices", format::count(MOST_DEVICES as u64));
    ImportError::new(OVER_A_LIMIT, message, HINT_LIMIT)
}
