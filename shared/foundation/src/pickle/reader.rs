//! Reads a pickle that arrives in chunks of any size, within bounds on the memory that it may take.
//!
//! A pickle refers to a value again in two bytes, however large it is.
//! Shared values therefore stay handles while they are read. Where they have to be copied out, a budget in proportion
//! to the bytes limits the copies.
//!
//! The costliest opcode is the empty set: for one byte it takes a node of the heap and a value on the stack.
//! A document with shared parts takes 64 bytes more per byte.
//! A recorded snapshot takes one to two bytes per byte.
//!
//! Small documents become serde-pickle's `Value`, from which serde deserializes types.
//! serde-pickle cannot read whole snapshots: it refuses shared containers whose content is in the
//! memo, because it forgets a memoized value after its last reference, and a tree of values for ten million events does
//! not fit into a browser tab.

use super::heap::{Error, ErrorKind, Heap, Shape};
use super::machine::Machine;
use super::scanner::Scanner;
use super::val::{Kind, Val};
use super::{Build, opcode};
use crate::base::{Feed, StringId, StringTable};
use serde_pickle::{HashableValue, Value};
use std::collections::{BTreeMap, BTreeSet};

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

/// Maximum nesting of a document.
const MAX_DEPTH: usize = 200;

/// Memory limit of a document: 64 bytes per byte read, plus 1 MiB.
const MEMORY_PER_BYTE: u64 = 64;
const MEMORY_APART: u64 = 1 << 20;

/// Memory of a value without its string or items.
const VALUE_BYTES: u64 = size_of::<Value>() as u64;
/// Memory of the first node of a dictionary or a set, including room for an entry that is being inserted.
const TREE_BYTES: u64 = 12 * ENTRY_BYTES;
const ENTRY_BYTES: u64 = 2 * VALUE_BYTES;

/// Converts a value that no builder took to serde-pickle's `Value`, within a budget.
///
/// Shared parts are copied out, so that a few bytes can describe a document of any size; the budget limits that.
#[derive(Debug)]
pub struct ValueMaker<'a> {
    heap: &'a Heap,
    /// Memory limit of the document, in bytes, which also bounds the time.
    limit: u64,
    /// Memory left, in bytes.
    left: u64,
}

impl<'a> ValueMaker<'a> {
    /// Creates a maker for a file of `decoded_bytes` bytes.
    ///
    /// The document takes at most 64 bytes of memory per byte plus 1 MiB.
    pub fn new(heap: &'a Heap, decoded_bytes: u64) -> Self {
        let limit = MEMORY_APART.saturating_add(MEMORY_PER_BYTE.saturating_mul(decoded_bytes));
        Self { heap, limit, left: limit }
    }

    /// Converts a value to a document, in which values that the builder took become `None`.
    ///
    /// # Errors
    /// Returns an error if the document is nested too deeply or too large, or has a key that can't be hashed.
    pub fn value(mut self, val: Val, strings: &StringTable) -> Result<Value, ErrorKind> {
        self.value_at(val, strings, 0)
    }

    fn spend(&mut self, bytes: u64) -> Result<(), ErrorKind> {
        let what = "bytes in a document after its shared parts are expanded";
        self.left = self.left.checked_sub(bytes).ok_or(ErrorKind::Limit { what, limit: self.limit })?;
        Ok(())
    }

    fn value_at(&mut self, val: Val, strings: &StringTable, depth: usize) -> Result<Value, ErrorKind> {
        let content_bytes = match val.kind() {
            Kind::WideInt(number) => self.heap.wide_int(number).bits() / 8,
            Kind::Str(id) => strings.whole(id).len() as u64,
            Kind::Bytes(number) => self.heap.byte_string(number).len() as u64,
            Kind::Pair(..) => 2 * VALUE_BYTES,
            _ => 0,
        };
        self.spend(VALUE_BYTES + content_bytes)?;
        if depth > MAX_DEPTH {
            return Err(ErrorKind::Limit { what: "nested containers", limit: MAX_DEPTH as u64 });
        }
        Ok(match val.kind() {
            Kind::Int(value) => match i64::try_from(value) {
                Ok(value) => Value::I64(value),
                Err(_) => Value::Int(value.into()),
            },
            Kind::WideInt(number) => Value::Int(self.heap.wide_int(number).clone()),
            Kind::Float(number) => Value::F64(self.heap.float(number)),
            Kind::Str(id) => Value::String(strings.whole(id).to_owned()),
            Kind::Bytes(number) => Value::Bytes(self.heap.byte_string(number).to_vec()),
            Kind::Bool(value) => Value::Bool(value),
            Kind::Pair(a, b) => Value::Tuple(vec![Value::I64(a.into()), Value::I64(b.into())]),
            Kind::EmptyDict | Kind::FreshDict(_) => Value::Dict(Default::default()),
            Kind::EmptyList | Kind::FreshList(_) => Value::List(Vec::new()),
            Kind::EmptyTuple => Value::Tuple(Vec::new()),
            Kind::None | Kind::Handle(..) => Value::None,
            Kind::Node(number) => self.container(number, strings, depth + 1)?,
        })
    }

    fn container(&mut self, number: u32, strings: &StringTable, depth: usize) -> Result<Value, ErrorKind> {
        let node = self.heap.node(number);
        let len = node.items.len() as u64;
        self.spend(match node.shape {
            Shape::List | Shape::Tuple => VALUE_BYTES * len,
            Shape::Set => TREE_BYTES + ENTRY_BYTES * len,
            Shape::Dict => TREE_BYTES + ENTRY_BYTES * len / 2,
        })?;
        Ok(match node.shape {
            Shape::List => Value::List(self.values(&node.items, strings, depth)?),
            Shape::Tuple => Value::Tuple(self.values(&node.items, strings, depth)?),
            Shape::Set => {
                let mut keys = BTreeSet::new();
                for &item in &node.items {
                    keys.insert(self.key(item, strings, depth)?);
                }
                Value::Set(keys)
            }
            Shape::Dict => {
                let mut entries = BTreeMap::new();
                for pair in node.items.chunks_exact(2) {
                    entries.insert(self.key(pair[0], strings, depth)?, self.value_at(pair[1], strings, depth)?);
                }
                Value::Dict(entries)
            }
        })
    }

    fn values(&mut self, items: &[Val], strings: &StringTable, depth: usize) -> Result<Vec<Value>, ErrorKind> {
        let mut values = Vec::with_capacity(items.len());
        for &item in items {
            values.push(self.value_at(item, strings, depth)?);
        }
        Ok(values)
    }

    fn key(&mut self, val: Val, strings: &StringTable, depth: usize) -> Result<HashableValue, ErrorKind> {
        let value = self.value_at(val, strings, depth)?;
        value.into_hashable().map_err(|_| ErrorKind::Unexpected {
            expected: "a key that can be hashed",
            found: val.describe().to_owned(),
        })
    }
}

/// Reads a whole pickle as one document.
///
/// # Errors
/// Returns an error if it is no pickle of plain data, is recursive or too large, or has a key that can't be hashed.
pub fn value_from_slice(bytes: &[u8]) -> Result<Value, Error> {
    let mut reader = Reader::new(KeepAll::default());
    reader.push(bytes)?;
    let finished = reader.finish()?;
    if finished.recursive_containers > 0 {
        let kind =
            ErrorKind::Unexpected { expected: "a finite document", found: "one that contains itself".to_owned() };
        return Err(Error { offset: bytes.len() as u64, kind });
    }
    let maker = ValueMaker::new(&finished.heap, finished.bytes);
    maker.value(finished.root, &finished.builder.0).map_err(|kind| Error { offset: bytes.len() as u64, kind })
}

/// Builder that takes nothing.
#[derive(Debug, Default)]
struct KeepAll(StringTable);

impl Build for KeepAll {
    fn intern(&mut self, text: &str) -> StringId {
        self.0.intern(text)
    }
}
