//! Pickle support: an incremental reader with bounded memory and a writer that preserves sharing.
//!
//! Only plain data is read; opcodes that could build an object or run code are refused by name. A [`Build`] may take the
//! instances of classes that it knows, which are their state and nothing else: no code of a class is known here.
//! This module knows nothing about snapshots: a [`Build`] takes containers as they are closed.
//!
//! Memory is at most [`MOST_MEMORY_PER_BYTE`] per byte plus [`MOST_MEMORY_APART`], whatever the pickle shares; time is
//! proportional to the bytes as well.
//!
//! The machine works from the inside out: a dictionary is complete at its `SETITEMS`, and is offered to the builder at
//! that moment, straight from the stack.
//! The builder recognises it by its keys, writes a row, and leaves an eight-byte handle in its place; lists of rows
//! become ranges.
//! Values that the builder does not take stay in the heap of the machine: small ones become serde-pickle's `Value`, the
//! rest is counted and dropped.
//! The memo would be the largest structure while a file is read; it is packed (`dense.rs`) and freed before the first
//! analysis.
//!
//! Records are read by fast paths (`runs.rs`, and `template.rs` with `lesson.rs`), each of which leaves everything unexpected to the single steps, at an exact boundary.
//! Invariant: a fast path leaves the machine in the same state as the single steps; input in chunks of one byte never
//! takes one, so that the single steps are its oracle.

mod batches;
mod dense;
mod heap;
mod lesson;
mod machine;
mod memo;
mod opcode;
mod parse;
mod reader;
mod records;
mod runs;
mod scanner;
mod template;
mod text;
mod val;
mod writer;

pub use heap::{Build, Error, ErrorKind, Heap};
pub use reader::{
    Finished, MOST_MEMORY_APART, MOST_MEMORY_PER_BYTE, Reader, ValueMaker, most_memory_bytes, value_from_slice,
};
pub use template::{Form, RECORD_VALUES, Role};
pub use val::{Kind, Val};
pub use writer::{MemoId, Style, Writer};

pub(crate) use machine::Machine;
