//! Stores values that do not fit into a [`Val`], and defines the interface of builders and the errors of the reader.
//!
//! They are containers that no builder took, large integers, floats and bytes.

use super::template::{Form, RECORD_VALUES};
use super::val::{Kind, Val};
use crate::base::{Column, StringId};
use num_bigint::BigInt;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Tuple,
    List,
    Dict,
    Set,
}

/// Container in the heap.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) shape: Shape,
    pub(crate) items: Vec<Val>,
    /// Number of items when the builder last declined the container.
    pub(crate) declined_len: usize,
    /// Value that the builder made of the container.
    pub(crate) taken: Option<Val>,
    /// True if the container became part of another one while it was empty.
    pub(crate) used_empty: bool,
}

impl Node {
    /// Returns true if other containers hold an earlier state, which would lack anything added now.
    pub(crate) fn is_final(&self) -> bool {
        self.used_empty || self.taken.is_some()
    }
}

/// Values that no builder took.
#[derive(Debug, Default)]
pub struct Heap {
    nodes: Column<Node, 10>,
    wide_ints: Vec<BigInt>,
    floats: Vec<f64>,
    bytes: Vec<Box<[u8]>>,
}

impl Heap {
    pub(crate) fn add(&mut self, shape: Shape, items: Vec<Val>) -> Val {
        self.nodes.push(Node { shape, items, declined_len: 0, taken: None, used_empty: false });
        Val::node(index(self.nodes.len()))
    }

    pub(crate) fn node(&self, number: u32) -> &Node {
        self.nodes.get_ref(number as usize)
    }

    pub(crate) fn node_mut(&mut self, number: u32) -> &mut Node {
        self.nodes.get_mut(number as usize)
    }

    /// Returns the value, or what the builder has made of it since.
    #[inline]
    pub fn current(&self, val: Val) -> Val {
        match val.kind() {
            Kind::Node(number) => self.node(number).taken.unwrap_or(val),
            _ => val,
        }
    }

    pub(crate) fn add_int(&mut self, value: i128) -> Val {
        let packed = i64::try_from(value).ok().and_then(Val::int);
        let upper = || u64::try_from(value).ok().and_then(Val::upper_int);
        packed.or_else(upper).unwrap_or_else(|| self.add_wide(BigInt::from(value)))
    }

    pub(crate) fn add_wide(&mut self, value: BigInt) -> Val {
        self.wide_ints.push(value);
        Val::wide_int(index(self.wide_ints.len()))
    }

    pub(crate) fn add_float(&mut self, value: f64) -> Val {
        self.floats.push(value);
        Val::float(index(self.floats.len()))
    }

    pub(crate) fn add_bytes(&mut self, value: &[u8]) -> Val {
        self.bytes.push(value.into());
        Val::bytes(index(self.bytes.len()))
    }

    pub(crate) fn wide_int(&self, number: u32) -> &BigInt {
        &self.wide_ints[number as usize]
    }

    pub(crate) fn float(&self, number: u32) -> f64 {
        self.floats[number as usize]
    }

    pub(crate) fn byte_string(&self, number: u32) -> &[u8] {
        &self.bytes[number as usize]
    }

    /// Returns an integer of at most 64 bits modulo 2^64; `None` for everything else.
    ///
    /// The C++ pickler writes addresses from 2^63 on as negative numbers; this restores them.
    pub fn as_u64(&self, val: Val) -> Option<u64> {
        match self.as_i128(val)? {
            value @ 0.. => u64::try_from(value).ok(),
            value => i64::try_from(value).ok().map(|value| value as u64),
        }
    }

    /// Returns an integer in the range of `i64`; `None` for everything else.
    pub fn as_i64(&self, val: Val) -> Option<i64> {
        i64::try_from(self.as_i128(val)?).ok()
    }

    /// Returns an integer of at most 128 bits; `None` for everything else.
    ///
    /// Booleans count as 0 and 1. So do floats without a fraction and below 2^100, because JSON does not separate them
    /// from integers.
    pub fn as_i128(&self, val: Val) -> Option<i128> {
        match val.kind() {
            Kind::Int(value) => Some(value),
            Kind::Bool(value) => Some(i128::from(value)),
            Kind::WideInt(number) => i128::try_from(self.wide_int(number)).ok(),
            Kind::Float(number) => {
                let value = self.float(number);
                (value.fract() == 0.0 && value.abs() < 2f64.powi(100)).then_some(value as i128)
            }
            _ => None,
        }
    }

    /// Returns a number as a float, rounded if it is a large integer; `None` for everything else.
    pub fn as_f64(&self, val: Val) -> Option<f64> {
        match val.kind() {
            Kind::Float(number) => Some(self.float(number)),
            Kind::Bool(_) => None,
            _ => self.as_i128(val).map(|value| value as f64),
        }
    }

    /// Returns the items of a list or tuple in the heap; `None` for everything else.
    pub fn items(&self, val: Val) -> Option<&[Val]> {
        match val.kind() {
            Kind::EmptyList | Kind::EmptyTuple => Some(&[]),
            Kind::Node(number) => Some(self.node(number))
                .filter(|node| matches!(node.shape, Shape::List | Shape::Tuple))
                .map(|node| &*node.items),
            _ => None,
        }
    }

    /// Returns the keys and values of a dictionary in the heap, in turn; `None` for everything else.
    pub fn entries(&self, val: Val) -> Option<&[Val]> {
        match val.kind() {
            Kind::EmptyDict => Some(&[]),
            Kind::Node(number) => {
                Some(self.node(number)).filter(|node| node.shape == Shape::Dict).map(|node| &*node.items)
            }
            _ => None,
        }
    }
}

fn index(len: usize) -> u32 {
    u32::try_from(len - 1).expect("fewer than 2^32 values in the heap")
}

/// Takes containers as soon as they are complete, so that no tree of values is built.
///
/// A pickle is written bottom-up: a dictionary is closed when all of its values are present.
/// The machine offers each container to the builder; one that the builder takes is represented by the builder's handle
/// from then on.
pub trait Build {
    /// Returns the handle of a string; equal strings have equal handles.
    fn intern(&mut self, text: &str) -> StringId;

    /// Takes a dictionary, given as keys and values in turn, or returns `None` to leave it to the heap.
    fn dict(&mut self, _entries: &[Val], _heap: &Heap) -> Option<Val> {
        None
    }

    /// Returns the form of the dictionary that was just taken as `val`, if later ones may be passed to
    /// [`record`](Self::record).
    fn form(&mut self, _val: Val, _entries: &[Val]) -> Option<Form> {
        None
    }

    /// Takes a dictionary of a form that the builder returned, or returns `None` to get it as a dictionary.
    ///
    /// Values that the form has no place for are `None`.
    /// A list that it takes as a value of a record must be one that is never extended, because lists of equal items
    /// may be the same value from then on.
    fn record(&mut self, _tag: u32, _values: &[Val; RECORD_VALUES]) -> Option<Val> {
        None
    }

    /// Takes a list, or returns `None` to leave it to the heap.
    fn list(&mut self, _items: &[Val], _heap: &Heap) -> Option<Val> {
        None
    }

    /// Appends items to a list that the builder took, or returns false if it can't.
    fn extend(&mut self, _list: Val, _items: &[Val]) -> bool {
        false
    }

    /// Returns the length of a list that the builder took, or `None` if it took no such list.
    fn len(&self, _list: Val) -> Option<usize> {
        None
    }

    /// Copies the items of a list that the builder took and could not extend to the end of `items`.
    fn expand(&self, _list: Val, _items: &mut Vec<Val>) {}

    /// Takes a tuple, or returns `None` to leave it to the heap; tuples of two small numbers are never offered.
    fn tuple(&mut self, _items: &[Val]) -> Option<Val> {
        None
    }

    /// Returns the handle of a class whose instances the builder takes as data, or `None` to have it refused.
    fn class(&mut self, _module: StringId, _name: StringId) -> Option<Val> {
        None
    }

    /// Returns the handle of a new instance of a class that the builder took, or `None` to have it refused.
    fn instance(&mut self, _class: Val) -> Option<Val> {
        None
    }

    /// Takes the state of an instance, or returns false to have it refused.
    fn state(&mut self, _instance: Val, _state: Val, _heap: &Heap) -> bool {
        false
    }

    /// Reports a string that is not UTF-8 and was repaired.
    fn mended_text(&mut self, _offset: u64) {}
}

/// Reason why the opcode at [`Error::offset`] is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The data ends before the pickle does.
    Truncated {
        /// Element that was being read.
        within: String,
    },
    /// Byte that is an opcode of no pickle protocol.
    UnknownOpcode(u8),
    /// Opcode that could build an object or run code.
    Refused {
        /// Opcode name in CPython's `pickletools`.
        opcode: &'static str,
        /// Requested object, such as `torch.Tensor`, or empty if the opcode does not name it.
        target: String,
    },
    /// Protocol number above 5.
    UnknownProtocol(u8),
    /// The opcode needs something other than what the stream holds.
    Unexpected {
        /// Noun phrase with its article, such as `a list`.
        expected: &'static str,
        found: String,
    },
    /// A limit of this program is exceeded.
    Limit {
        /// Plural noun for what is limited.
        what: &'static str,
        /// Highest permitted number.
        limit: u64,
    },
}

/// Error of the pickle reader, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub offset: u64,
    pub kind: ErrorKind,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { within } => write!(f, "the data ends in the middle of {within}"),
            Self::UnknownOpcode(byte) => write!(f, "expected a pickle opcode, found byte {byte:#04x}"),
            Self::Refused { opcode, target } => match target.as_str() {
                "" => write!(f, "the opcode {opcode} is refused because it could build an object or run code"),
                target => write!(f, "the opcode {opcode} is refused because it loads the Python object {target:?}"),
            },
            Self::UnknownProtocol(protocol) => write!(f, "expected pickle protocol 0 to 5, found {protocol}"),
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Limit { what, limit } => write!(f, "the file has more than {limit} {what}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}
