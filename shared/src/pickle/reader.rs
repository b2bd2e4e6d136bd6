//! Reads a pickle that arrives in chunks of any size, within bounds on the memory that it may take.
//!
//! A pickle refers to a value again in two bytes, however large it is.
//! Shared values therefore stay handles while they are read; a tree of values for ten million events would not fit into
//! a browser tab.
//!
//! The costliest opcode is the empty set: for one byte it takes a node of the heap and a value on the stack.
//! A recorded snapshot takes one to two bytes per byte.

use super::heap::{Error, ErrorKind, Heap};
use super::machine::Machine;
use super::scanner::Scanner;
use super::{Build, Val, opcode};
use crate::base::Feed;

/// Incremental pickle reader that passes containers to a builder.
///
/// It buffers at most the opcode that the last chunk ended within.
#[derive(Debug)]
pub struct Reader<B> {
    feed: Feed,
    scanner: Scanner<B>,
}

/// Result of reading a whole pickle.
#[derive(Debug)]
pub struct Finished<B> {
    pub builder: B,
    /// Values that the builder did not take.
    pub heap: Heap,
    /// The one value that the pickle leaves on the stack.
    pub root: Val,
    pub bytes: u64,
    /// Protocol that the first opcode names; without one, 0 or 1.
    pub protocol: u8,
    /// Number of non-zero bytes after `STOP`; `trace_plot` pads with zeros.
    pub trailing_bytes: u64,
    /// Number of containers that contain themselves, whose inner reference is not followed.
    pub recursive_containers: u64,
}

impl<B: Build> Reader<B> {
    pub fn new(builder: B) -> Self {
        Self { feed: Feed::default(), scanner: Scanner::new(Machine::new(builder)) }
    }

    /// Returns the builder with everything that it has taken so far.
    pub fn builder(&self) -> &B {
        &self.scanner.machine.builder
    }

    /// Returns true if the pickle is complete after the last bytes.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        self.feed.finish(&mut self.scanner)?;
        Ok(self.scanner.stop.is_some())
    }

    /// Returns the builder without a result, with everything that it has taken so far.
    pub fn into_builder(self) -> B {
        self.scanner.machine.builder
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// Returns an error as soon as the bytes are no pickle of plain data; the reader must not be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.feed.push(bytes, &mut self.scanner)
    }

    /// Returns the result after the last bytes.
    ///
    /// # Errors
    /// Returns an error if the pickle is truncated or leaves no value.
    pub fn finish(mut self) -> Result<Finished<B>, Error> {
        self.feed.finish(&mut self.scanner)?;
        let offset = self.feed.offset();
        let Scanner { machine, protocol, stop, trailing_bytes, .. } = self.scanner;
        let Some(stop) = stop else {
            let name = self.feed.rest().first().and_then(|&byte| opcode::name(byte));
            let within = match name {
                Some(name) => format!("the opcode {name} or its data"),
                None => "the pickle, before its STOP opcode".to_owned(),
            };
            return Err(Error { offset, kind: ErrorKind::Truncated { within } });
        };
        let recursive_containers = machine.late_fills();
        let (builder, heap, root) = machine.stop().map_err(|kind| Error { offset: stop, kind: *kind })?;
        Ok(Finished { builder, heap, root, bytes: offset, protocol, trailing_bytes, recursive_containers })
    }
}

/// Upper bound on memory per decoded byte, in bytes.
pub const MOST_MEMORY_PER_BYTE: u64 = 160;

/// Upper bound on memory in addition to that, in bytes, for a file of any size.
pub const MOST_MEMORY_APART: u64 = 4 << 20;

/// Returns the upper bound on memory held at any time while a file is decoded, including the result, in bytes.
///
/// Decoded bytes are those of the file or those that gzip and base64 unpack to, whichever is more.
pub fn most_memory_bytes(decoded_bytes: u64) -> u64 {
    MOST_MEMORY_APART.saturating_add(MOST_MEMORY_PER_BYTE.saturating_mul(decoded_bytes))
}
