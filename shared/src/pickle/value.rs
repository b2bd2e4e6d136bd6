//! Small documents as serde-pickle's `Value`, for serde to type.

use super::error::{Error, ErrorKind};
use super::heap::{Heap, Shape};
use super::val::{Kind, Val};
use super::{Build, Reader};
use crate::base::{StringId, StringTable};
use serde_pickle::{HashableValue, Value};

/// How deep a document may be nested.
const MAX_DEPTH: usize = 200;

/// Turns what no builder took into serde-pickle's `Value`, within a budget.
///
/// Shared parts are copied out, so that a few bytes can describe a document of any size; the budget stops that.
#[derive(Debug)]
pub struct ValueMaker<'a> {
    heap: &'a Heap,
    strings: &'a StringTable,
    limit: u64,
    left: u64,
}

impl<'a> ValueMaker<'a> {
    /// A maker of documents that have at most `budget` values together.
    pub fn new(heap: &'a Heap, strings: &'a StringTable, budget: u64) -> Self {
        Self { heap, strings, limit: budget, left: budget }
    }

    /// The document behind a value; what the builder took is `None` in it.
    ///
    /// # Errors
    /// If it is recursive or too large, or has a key that can't be hashed.
    pub fn value(&mut self, val: Val) -> Result<Value, ErrorKind> {
        self.value_at(val, 0)
    }

    fn value_at(&mut self, val: Val, depth: usize) -> Result<Value, ErrorKind> {
        let too_many = ErrorKind::Limit { what: "values once shared parts are written out", limit: self.limit };
        self.left = self.left.checked_sub(1).ok_or(too_many)?;
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
            Kind::Str(id) => Value::String(self.strings.get(id).to_owned()),
            Kind::Bytes(number) => Value::Bytes(self.heap.byte_string(number).to_vec()),
            Kind::Bool(value) => Value::Bool(value),
            Kind::Pair(a, b) => Value::Tuple(vec![Value::I64(a.into()), Value::I64(b.into())]),
            Kind::EmptyDict | Kind::FreshDict(_) => Value::Dict(Default::default()),
            Kind::EmptyList | Kind::FreshList(_) => Value::List(Vec::new()),
            Kind::EmptyTuple => Value::Tuple(Vec::new()),
            Kind::None | Kind::Handle(..) => Value::None,
            Kind::Node(number) => self.container(number, depth + 1)?,
        })
    }

    fn container(&mut self, number: u32, depth: usize) -> Result<Value, ErrorKind> {
        let node = self.heap.node(number);
        Ok(match node.shape {
            Shape::List => Value::List(self.values(&node.items, depth)?),
            Shape::Tuple => Value::Tuple(self.values(&node.items, depth)?),
            Shape::Set => {
                let keys = node.items.iter().map(|&item| self.key(item, depth));
                Value::Set(keys.collect::<Result<_, _>>()?)
            }
            Shape::Dict => {
                let entry = |pair: &[Val]| Ok((self.key(pair[0], depth)?, self.value_at(pair[1], depth)?));
                Value::Dict(node.items.chunks_exact(2).map(entry).collect::<Result<_, _>>()?)
            }
        })
    }

    fn values(&mut self, items: &[Val], depth: usize) -> Result<Vec<Value>, ErrorKind> {
        items.iter().map(|&item| self.value_at(item, depth)).collect()
    }

    fn key(&mut self, val: Val, depth: usize) -> Result<HashableValue, ErrorKind> {
        let value = self.value_at(val, depth)?;
        value.into_hashable().map_err(|_| ErrorKind::Unexpected {
            expected: "a key that can be hashed",
            found: val.describe().to_owned(),
        })
    }
}

/// Reads a whole pickle as one document.
///
/// # Errors
/// If it is no pickle of plain data, is recursive, or has a key that can't be hashed.
pub fn value_from_slice(bytes: &[u8]) -> Result<Value, Error> {
    let mut reader = Reader::new(KeepAll::default());
    reader.push(bytes)?;
    let finished = reader.finish()?;
    if finished.recursive_containers > 0 {
        let kind =
            ErrorKind::Unexpected { expected: "a finite document", found: "one that contains itself".to_owned() };
        return Err(Error { offset: bytes.len() as u64, kind });
    }
    let budget = 1000 + 16 * bytes.len() as u64;
    let mut maker = ValueMaker::new(&finished.heap, &finished.builder.strings, budget);
    maker.value(finished.root).map_err(|kind| Error { offset: bytes.len() as u64, kind })
}

/// A builder that takes nothing.
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

    fn expand(&self, _list: Val) -> Option<Vec<Val>> {
        None
    }
}
