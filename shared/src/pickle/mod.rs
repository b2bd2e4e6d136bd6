//! The pickle language: a bounded incremental reader and a writer that keeps sharing.
//!
//! Only plain data is read: what could build an object or run code is refused by name.
//! Nothing here knows what a snapshot is; a [`Build`] takes containers as they are closed.
//!
//! Memory is at most [`MOST_MEMORY_PER_BYTE`] for each byte and [`MOST_MEMORY_APART`] beyond that, whatever the bytes
//! share; time is in proportion to the bytes too.

mod batches;
mod build;
mod error;
mod heap;
mod known_keys;
mod law;
mod machine;
mod memo;
mod opcode;
mod reader;
mod records;
mod runs;
mod scanner;
mod text;
mod val;
mod value;
mod writer;

pub use build::Build;
pub use error::{Error, ErrorKind};
pub use heap::Heap;
pub use law::{MOST_MEMORY_APART, MOST_MEMORY_PER_BYTE, most_memory_bytes};
pub use reader::{Finished, Reader};
pub use val::{Kind, Val};
pub use value::{ValueMaker, value_from_slice};
pub use writer::{MemoId, Style, Writer};

pub(crate) use machine::Machine;
