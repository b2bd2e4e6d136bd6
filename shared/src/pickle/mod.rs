//! The pickle language: a bounded incremental reader and a writer that keeps sharing.
//!
//! Only plain data is read: what could build an object or run code is refused by name.
//! Nothing here knows what a snapshot is; a [`Build`] takes containers as they are closed.

mod build;
mod error;
mod heap;
mod known_keys;
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
pub use reader::{Finished, Reader};
pub use val::{Kind, Val};
pub use value::{ValueMaker, value_from_slice};
pub use writer::{MemoId, Style, Writer};

pub(crate) use machine::Machine;
