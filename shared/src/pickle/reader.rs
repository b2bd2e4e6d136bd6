//! A pickle that arrives in chunks of any size.

use super::error::{Error, ErrorKind};
use super::heap::Heap;
use super::machine::Machine;
use super::opcode;
use super::scanner::Scanner;
use super::{Build, Val};
use crate::base::Feed;

/// Reads a pickle and hands its containers to a builder.
///
/// It keeps no more of the bytes than the opcode that the last chunk ended within.
#[derive(Debug)]
pub struct Reader<B> {
    feed: Feed,
    scanner: Scanner<B>,
}

/// What a pickle was, once it is read to its end.
#[derive(Debug)]
pub struct Finished<B> {
    /// The builder, with everything that it took.
    pub builder: B,
    /// Everything that it did not take.
    pub heap: Heap,
    /// The one value that the pickle leaves.
    pub root: Val,
    /// How many bytes were read.
    pub bytes: u64,
    /// The protocol that the first opcode names, or the one that can do without.
    pub protocol: u8,
    /// Bytes after `STOP` that are not zero; `trace_plot` pads with zeros.
    pub trailing_bytes: u64,
    /// Containers that contain themselves, in which the inner reference is not followed.
    pub recursive_containers: u64,
}

impl<B: Build> Reader<B> {
    /// A reader that has seen nothing yet.
    pub fn new(builder: B) -> Self {
        Self { feed: Feed::default(), scanner: Scanner::new(Machine::new(builder)) }
    }

    /// The builder, with everything that it has taken so far.
    pub fn builder(&self) -> &B {
        &self.scanner.machine.builder
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// As soon as the bytes are no pickle of plain data; the reader is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.feed.push(bytes, &mut self.scanner)
    }

    /// The result, once all bytes are there.
    ///
    /// # Errors
    /// If the pickle has no end, or is broken there.
    pub fn finish(mut self) -> Result<Finished<B>, Error> {
        self.feed.finish(&mut self.scanner)?;
        let offset = self.feed.offset();
        let Scanner { machine, protocol, stop, trailing_bytes, .. } = self.scanner;
        let Some(stop) = stop else {
            let name = self.feed.rest().first().and_then(|&byte| opcode::name(byte));
            let within = match name {
                Some(name) => format!("the opcode {name} or its data"),
                None => "the pickle, in front of its STOP".to_owned(),
            };
            return Err(Error { offset, kind: ErrorKind::Truncated { within } });
        };
        let recursive_containers = machine.late_fills();
        let (builder, heap, root) = machine.stop().map_err(|kind| Error { offset: stop, kind: *kind })?;
        Ok(Finished { builder, heap, root, bytes: offset, protocol, trailing_bytes, recursive_containers })
    }
}
