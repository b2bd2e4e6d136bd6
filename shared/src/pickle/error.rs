//! Why bytes are no pickle that can be read.

use std::fmt;

/// What was wrong with the opcode at [`Error::offset`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes end before the pickle does.
    Truncated {
        /// What was being read.
        within: String,
    },
    /// An opcode that no pickle protocol has.
    UnknownOpcode(u8),
    /// An opcode that could build an object or run code.
    Refused {
        /// The opcode's name in CPython's `pickletools`.
        opcode: &'static str,
        /// What it asks for, where the stream says so, such as `torch.Tensor`.
        target: String,
    },
    /// A protocol number above 5.
    UnknownProtocol(u8),
    /// The opcode needs something else than what the stream holds there.
    Unexpected {
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// More than this program takes.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much of it is allowed.
        limit: u64,
    },
}

/// An error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Byte offset of the opcode in the pickle.
    pub offset: u64,
    /// What was wrong there.
    pub kind: ErrorKind,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { within } => write!(f, "the data ends within {within}"),
            Self::UnknownOpcode(byte) => write!(f, "expected a pickle opcode, found byte {byte:#04x}"),
            Self::Refused { opcode, target } if target.is_empty() => {
                write!(f, "the opcode {opcode} could build an object or run code and is refused")
            }
            Self::Refused { opcode, target } => {
                write!(f, "the opcode {opcode} asks for the Python object {target:?} and is refused")
            }
            Self::UnknownProtocol(protocol) => write!(f, "expected pickle protocol 0 to 5, found {protocol}"),
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Limit { what, limit } => write!(f, "{what}: more than {limit}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}
