//! Pickle support: an incremental reader with bounded memory and a writer that preserves sharing.
//!
//! Only plain data is read; opcodes that could build an object or run code are refused by name. A [`Build`] may take the
//! instances of classes that it knows, which are their state and nothing else: no code of a class is known here.
//! This module knows nothing about snapshots: a [`Build`] takes containers as they are closed.
//!
//! Memory is at most [`MOST_MEMORY_PER_BYTE`] per byte plus [`MOST_MEMORY_APART`], whatever the pickle shares; time is
//! proportional to the bytes as well.

mod batch;
mod batches;
mod build;
mod dense;
mod error;
mod heap;
mod known_keys;
mod known_lists;
mod law;
mod lesson;
mod machine;
mod memo;
mod objects;
mod opcode;
mod parse;
mod reader;
mod records;
mod runs;
mod scanner;
mod template;
mod text;
mod val;
mod value;
mod window;
mod writer;

pub use build::Build;
pub use error::{Error, ErrorKind};
pub use heap::Heap;
pub use law::{MOST_MEMORY_APART, MOST_MEMORY_PER_BYTE, most_memory_bytes};
pub use reader::{Finished, Reader};
pub use template::{Form, RECORD_VALUES, Role};
pub use val::{Kind, Val};
pub use value::{ValueMaker, value_from_slice};
pub use writer::{MemoId, Style, Writer};

pub(crate) use machine::Machine;
