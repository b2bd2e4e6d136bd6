//! Errors of the pickle reader.

use std::fmt;

/// Reason why the opcode at [`Error::offset`] is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The data ends before the pickle does.
    Truncated {
        /// Element that was being read.
        within: String,
    },
    /// Byte that is an opcode of no pickle protocol.
    UnknownOpcode(u8),
    /// Opcode that could build an object or run code.
    Refused {
        /// Opcode name in CPython's `pickletools`.
        opcode: &'static str,
        /// Requested object, such as `torch.Tensor`, or empty if the opcode does not name it.
        target: String,
    },
    /// Protocol number above 5.
    UnknownProtocol(u8),
    /// The opcode needs something other than what the stream holds.
    Unexpected {
        /// Noun phrase with its article, such as `a list`.
        expected: &'static str,
        found: String,
    },
    /// A limit of this program is exceeded.
    Limit {
        /// Plural noun for what is limited.
        what: &'static str,
        /// Highest permitted number.
        limit: u64,
    },
}

/// Error of the pickle reader, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub offset: u64,
    pub kind: ErrorKind,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { within } => write!(f, "the data ends in the middle of {within}"),
            Self::UnknownOpcode(byte) => write!(f, "expected a pickle opcode, found byte {byte:#04x}"),
            Self::Refused { opcode, target } if target.is_empty() => {
                write!(f, "the opcode {opcode} is refused because it could build an object or run code")
            }
            Self::Refused { opcode, target } => {
                write!(f, "the opcode {opcode} is refused because it loads the Python object {target:?}")
            }
            Self::UnknownProtocol(protocol) => write!(f, "expected pickle protocol 0 to 5, found {protocol}"),
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Limit { what, limit } => write!(f, "the file has more than {limit} {what}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}
