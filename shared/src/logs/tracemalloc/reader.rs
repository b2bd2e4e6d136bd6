//! Reads a snapshot that arrives in chunks, plain or compressed with gzip.

use super::builder::Builder;
use super::snapshot::{Flaw, TracemallocSnapshot};
use crate::base::{Sink, unpacked_head};
use crate::logs::source::FileReader;
use crate::pickle::{Error, ErrorKind, Finished, Reader};

/// Returns true if the beginning of a file is a snapshot, plain or compressed.
///
/// A pickle begins with its protocol, from protocol 4 on with a frame's length, and with the class of its object.
pub fn is_tracemalloc(head: &[u8]) -> bool {
    let head = unpacked_head(head);
    let Some([0x80, 2..=5, rest @ ..]) = head.get(..) else { return false };
    let rest = match rest {
        [0x95, _, _, _, _, _, _, _, _, rest @ ..] => rest,
        rest => rest,
    };
    [&b"\x8c\x0btracemalloc"[..], b"X\x0b\0\0\0tracemalloc", b"ctracemalloc\nSnapshot\n"]
        .iter()
        .any(|class| rest.starts_with(class))
}

/// Unpacked pickle, up to its first error.
#[derive(Debug)]
pub struct TracemallocReader {
    reader: Reader<Builder>,
    error: Option<Error>,
}

impl Default for TracemallocReader {
    fn default() -> Self {
        Self { reader: Reader::new(Builder::default()), error: None }
    }
}

impl FileReader for TracemallocReader {
    type Log = TracemallocSnapshot;

    fn begin(head: &[u8]) -> Option<Self> {
        is_tracemalloc(head).then(Self::default)
    }

    fn finish(self) -> TracemallocSnapshot {
        let Self { mut reader, error } = self;
        match error.map_or_else(|| reader.has_ended(), Err) {
            Err(error) => broken(reader.into_builder(), &error),
            Ok(false) => reader.into_builder().partial(Flaw::Cut),
            Ok(true) => reader.finish().map_or_else(|error| foreign(error.to_string()), whole),
        }
    }
}

impl Sink for TracemallocReader {
    fn push(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.reader.push(bytes).err();
        }
    }
}

/// Returns the snapshot of a complete pickle.
fn whole(finished: Finished<Builder>) -> TracemallocSnapshot {
    let Finished { builder, root, trailing_bytes, .. } = finished;
    let snapshot = builder.whole(root).unwrap_or_else(|| foreign("it holds another object".to_owned()));
    TracemallocSnapshot { trailing_bytes, ..snapshot }
}

/// Returns what was read before an error.
fn broken(builder: Builder, error: &Error) -> TracemallocSnapshot {
    match &error.kind {
        ErrorKind::Refused { .. } => foreign(error.to_string()),
        _ => builder.partial(Flaw::Damaged(error.offset)),
    }
}

fn foreign(reason: String) -> TracemallocSnapshot {
    TracemallocSnapshot { flaw: Some(Flaw::Foreign(reason)), ..TracemallocSnapshot::default() }
}
