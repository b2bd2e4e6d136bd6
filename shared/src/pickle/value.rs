//! Converts small documents to serde-pickle's `Value`, from which serde deserializes types.
//!
//! serde-pickle reads only these. It cannot read whole snapshots: it refuses shared containers whose content is in the
//! memo, because it forgets a memoized value after its last reference, and a tree of values for ten million events does
//! not fit into a browser tab.

use super::error::{Error, ErrorKind};
use super::heap::{Heap, Shape};
use super::val::{Kind, Val};
use super::{Build, Reader};
use crate::base::{StringId, StringTable};
use serde_pickle::{HashableValue, Value};
use std::collections::{BTreeMap, BTreeSet};

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
    maker.value(finished.root, &finished.builder.strings).map_err(|kind| Error { offset: bytes.len() as u64, kind })
}

/// Builder that takes nothing.
#[derive(Debug, Default)]
struct KeepAll {
    strings: StringTable,
}

impl Build for KeepAll {
    fn intern(&mut self, text: &str) -> StringId {
        self.strings.intern(text)
    }

    fn dict(&mut self, _entries: &[Val], _heap: &Heap) -> Option<Val> {
        None
    }

    fn list(&mut self, _items: &[Val], _heap: &Heap) -> Option<Val> {
        None
    }

    fn extend(&mut self, _list: Val, _items: &[Val]) -> bool {
        false
    }

    fn len(&self, _list: Val) -> Option<usize> {
        None
    }

    fn expand(&self, _list: Val, _items: &mut Vec<Val>) {}
}
