//! Reads a pickle that arrives in chunks of any size.

use super::error::{Error, ErrorKind};
use super::heap::Heap;
use super::machine::Machine;
use super::opcode;
use super::scanner::Scanner;
use super::{Build, Val};
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
    /// Builder with everything that it took.
    pub builder: B,
    /// Values that the builder did not take.
    pub heap: Heap,
    /// The one value that the pickle leaves on the stack.
    pub root: Val,
    /// Number of bytes read.
    pub bytes: u64,
    /// Protocol that the first opcode names; without one, 0 or 1.
    pub protocol: u8,
    /// Number of non-zero bytes after `STOP`; `trace_plot` pads with zeros.
    pub trailing_bytes: u64,
    /// Number of containers that contain themselves, whose inner reference is not followed.
    pub recursive_containers: u64,
}

impl<B: Build> Reader<B> {
    /// Creates a reader at the start of a pickle.
    pub fn new(builder: B) -> Self {
        Self { feed: Feed::default(), scanner: Scanner::new(Machine::new(builder)) }
    }

    /// Returns the builder with everything that it has taken so far.
    pub fn builder(&self) -> &B {
        &self.scanner.machine.builder
    }

    /// Returns true if the pickle is complete after the last bytes.
    ///
    /// # Errors
    /// Returns an error if the last bytes are no pickle of plain data.
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
