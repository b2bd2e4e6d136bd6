//! Why a file is no snapshot that can be read.

use crate::pickle;
use std::fmt;

/// What is wrong with a file, where, and what the user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// A word for programs, such as `git-lfs-pointer`: it stays the same when sentences change.
    pub code: &'static str,
    /// Byte offset, counted behind gzip and base64, where it is known and helps.
    pub offset: Option<u64>,
    /// What is wrong, or what the file is: one sentence without its full stop.
    pub message: String,
    /// What the user can do: one or two sentences.
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
/// The file's bytes are not what the program that writes such files would write.
pub(super) const DAMAGED: &str = "damaged";
/// More of something than any recorder writes.
pub(super) const OVER_A_LIMIT: &str = "over-a-limit";
/// A pickle that asks for Python objects.
pub(super) const WITH_OBJECTS: &str = "pickle-with-objects";

pub(super) const HINT_WRITE: &str = "Snapshots are written by torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
pub(super) const HINT_CUT: &str = "The file seems to be cut off. Copy it again, or check that the training process \
     lived on until the dump was complete.";
const HINT_DAMAGED: &str = "The file seems to be damaged. Copy it again in binary mode, or record a new snapshot.";
const HINT_OBJECTS: &str = "A memory snapshot holds plain data only, and nothing else is ever loaded here. This is \
     probably a checkpoint or another pickled Python object.";
pub(super) const HINT_LIMIT: &str = "No recorder of PyTorch writes this. If the file is genuine, please report it.";
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
