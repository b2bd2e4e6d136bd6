//! Reads a profile that arrives in chunks, plain or compressed with gzip, field by field.

use super::heap::HeapProfile;
use super::tables::Tables;
use super::wire::{self, Start, Value};
use crate::base::{Sink, unpacked_head};
use crate::logs::source::FileReader;

/// Longest field that is read, 1 MiB; longer ones are left out.
const LONGEST_BYTES: u64 = 1 << 20;

/// Returns true if the beginning of a file is a profile: the types of its values come first, then other fields of one.
pub fn is_pprof(head: &[u8]) -> bool {
    const FIELDS: u64 = 15;
    let head = unpacked_head(head);
    let mut fields = wire::fields(&head);
    let is_type = |value: Value<'_>| {
        let Value::Bytes(message) = value else { return false };
        let fields: Vec<u64> = wire::fields(message).map(|(field, _)| field).collect();
        message.len() <= 12 && fields == [1, 2]
    };
    let is_first = fields.next().is_some_and(|(field, value)| field == 1 && is_type(value));
    is_first && fields.take(4).filter(|(field, value)| *field <= FIELDS && (*field > 1 || is_type(*value))).count() == 4
}

/// Finds the fields in the bytes.
#[derive(Debug, Default)]
pub struct HeapReader {
    /// Bytes of the field that the last chunk ended within.
    rest: Vec<u8>,
    /// Bytes of a field that is left out and still to come.
    skipped: u64,
    is_damaged: bool,
    tables: Tables,
}

impl FileReader for HeapReader {
    type Log = HeapProfile;

    fn begin(head: &[u8]) -> Option<Self> {
        is_pprof(head).then(Self::default)
    }

    fn finish(self) -> HeapProfile {
        let Self { rest, skipped, is_damaged, tables } = self;
        tables.finish(is_damaged || skipped > 0 || !rest.is_empty())
    }
}

impl Sink for HeapReader {
    fn push(&mut self, bytes: &[u8]) {
        let passed = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(bytes.len());
        self.skipped -= passed as u64;
        if self.is_damaged {
            return;
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(&bytes[passed..]);
        let read = self.read(&rest);
        rest.drain(..read);
        self.rest = rest;
    }
}

impl HeapReader {
    /// Reads the fields that are complete, and returns the number of their bytes.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            match wire::start(&bytes[at..]) {
                Start::Cut => break,
                Start::Invalid => {
                    self.is_damaged = true;
                    return bytes.len();
                }
                Start::Number { field, value, end } => {
                    self.tables.add(field, Value::Number(value));
                    at += end;
                }
                Start::Bytes { start, len, .. } if len > LONGEST_BYTES => {
                    self.tables.left_out += 1;
                    let there = bytes.len() - at - start;
                    self.skipped = len.saturating_sub(there as u64);
                    at += start + usize::try_from(len).unwrap_or(usize::MAX).min(there);
                }
                Start::Bytes { field, start, len } => {
                    let (from, to) = (at + start, at + start + len as usize);
                    let Some(value) = bytes.get(from..to) else { break };
                    self.tables.add(field, Value::Bytes(value));
                    at = to;
                }
            }
        }
        at
    }
}
