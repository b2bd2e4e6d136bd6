//! A value on the reader's stack, packed into eight bytes.

use crate::base::StringId;
use std::fmt;

/// Value of a pickle, or a handle to where it is stored.
///
/// The low four bits are the tag, the upper sixty bits the payload.
/// Values are packed because a list of ten million events is ten million of them on the stack until its `APPENDS`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Val(u64);

const TAG_BITS: u32 = 4;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
const HANDLE_KIND_BITS: u32 = 4;
const PAIR_BITS: u32 = 30;

const INT: u64 = 0;
/// The payload is 2^64 minus the value.
const UPPER_INT: u64 = 1;
const WIDE_INT: u64 = 2;
const FLOAT: u64 = 3;
const STR: u64 = 4;
const BYTES: u64 = 5;
const CONST: u64 = 6;
const PAIR: u64 = 7;
const NODE: u64 = 8;
const HANDLE: u64 = 9;
const FRESH_DICT: u64 = 10;
const FRESH_LIST: u64 = 11;

/// Unpacked form of a [`Val`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integer from -2^59 to 2^59 - 1, or from 2^64 - 2^60 + 1 to 2^64 - 1.
    Int(i128),
    /// Any other integer, by index in the heap.
    WideInt(u32),
    /// By index in the heap.
    Float(u32),
    Str(StringId),
    /// By index in the heap.
    Bytes(u32),
    None,
    Bool(bool),
    /// Tuple of two integers from 0 to 2^30 - 1.
    Pair(u32, u32),
    EmptyDict,
    EmptyList,
    EmptyTuple,
    /// Container in the heap, by index.
    Node(u32),
    /// Container that the builder took, by a kind and a number that the builder chose.
    Handle(u8, u32),
    /// Dictionary that is still empty, by its memo index plus one, or 0 without a memo index.
    FreshDict(u64),
    /// List that is still empty, by its memo index plus one, or 0 without a memo index.
    FreshList(u64),
}

impl Val {
    pub(crate) const NONE: Self = Self::constant(0);
    pub(crate) const FALSE: Self = Self::constant(1);
    pub(crate) const TRUE: Self = Self::constant(2);
    pub(crate) const EMPTY_DICT: Self = Self::constant(3);
    pub(crate) const EMPTY_LIST: Self = Self::constant(4);
    pub(crate) const EMPTY_TUPLE: Self = Self::constant(5);
    pub(crate) const FRESH_DICT: Self = Self::new(FRESH_DICT, 0);
    pub(crate) const FRESH_LIST: Self = Self::new(FRESH_LIST, 0);

    const fn new(tag: u64, payload: u64) -> Self {
        Self(payload << TAG_BITS | tag)
    }

    const fn constant(number: u64) -> Self {
        Self::new(CONST, number)
    }

    #[inline]
    pub(crate) fn small_int(value: i32) -> Self {
        Self(((value as i64) << TAG_BITS) as u64 | INT)
    }

    #[inline]
    pub(crate) fn int(value: i64) -> Option<Self> {
        let packed = Self((value << TAG_BITS) as u64 | INT);
        ((packed.0 as i64) >> TAG_BITS == value).then_some(packed)
    }

    /// Packs an integer below 2^59.
    ///
    /// # Panics
    /// Panics if the integer is 2^59 or more.
    pub fn small(value: u64) -> Self {
        i64::try_from(value).ok().and_then(Self::int).expect("a number below 2^59")
    }

    /// Packs an integer from 2^64 - 2^60 + 1 on, such as an XPU pointer.
    pub(crate) fn upper_int(value: u64) -> Option<Self> {
        let distance = value.wrapping_neg();
        (distance != 0 && distance < 1 << (64 - TAG_BITS)).then_some(Self::new(UPPER_INT, distance))
    }

    pub(crate) fn wide_int(index: u32) -> Self {
        Self::new(WIDE_INT, u64::from(index))
    }

    pub(crate) fn float(index: u32) -> Self {
        Self::new(FLOAT, u64::from(index))
    }

    #[inline]
    pub(crate) fn str(id: StringId) -> Self {
        Self::new(STR, id.index() as u64)
    }

    pub(crate) fn bytes(index: u32) -> Self {
        Self::new(BYTES, u64::from(index))
    }

    pub(crate) fn node(index: u32) -> Self {
        Self::new(NODE, u64::from(index))
    }

    /// Packs a handle to a container that the builder took.
    ///
    /// # Panics
    /// Panics in debug builds if `kind` is above 15.
    #[inline]
    pub fn handle(kind: u8, number: u32) -> Self {
        debug_assert!(kind < 1 << HANDLE_KIND_BITS);
        Self::new(HANDLE, u64::from(number) << HANDLE_KIND_BITS | u64::from(kind))
    }

    #[inline]
    pub(crate) fn pair(first: Self, second: Self) -> Option<Self> {
        let small = |val: Self| val.tag() == INT && val.payload() < 1 << PAIR_BITS;
        (small(first) && small(second)).then(|| Self::new(PAIR, first.payload() << PAIR_BITS | second.payload()))
    }

    #[inline]
    fn tag(self) -> u64 {
        self.0 & TAG_MASK
    }

    #[inline]
    fn payload(self) -> u64 {
        self.0 >> TAG_BITS
    }

    /// Returns the handle of a string; `None` for everything else.
    #[inline]
    pub fn as_str(self) -> Option<StringId> {
        (self.tag() == STR).then(|| StringId::from_index(self.payload() as usize))
    }

    /// Returns the kind and the number of a builder's handle; `None` for everything else.
    #[inline]
    pub fn as_handle(self) -> Option<(u8, u32)> {
        (self.tag() == HANDLE).then(|| {
            let payload = self.payload();
            ((payload & ((1 << HANDLE_KIND_BITS) - 1)) as u8, (payload >> HANDLE_KIND_BITS) as u32)
        })
    }

    /// Returns an integer that fits into the packing; `None` for everything else.
    #[inline]
    pub fn as_small_int(self) -> Option<i64> {
        (self.tag() == INT).then_some(self.0 as i64 >> TAG_BITS)
    }

    /// Returns true if the machine has to close the value before it becomes part of another one.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self.tag() == NODE || self.tag() >= FRESH_DICT
    }

    /// Returns true for a container that has no items yet.
    #[inline]
    pub(crate) fn is_fresh(self) -> bool {
        self.tag() >= FRESH_DICT
    }

    /// Returns the same fresh container with its memo index.
    #[inline]
    pub(crate) fn with_memo(self, index: usize) -> Self {
        debug_assert!(self.is_fresh());
        Self::new(self.tag(), index as u64 + 1)
    }

    /// Returns the memo index of a fresh container.
    #[inline]
    pub(crate) fn memo_index(self) -> Option<usize> {
        debug_assert!(self.is_fresh());
        self.payload().checked_sub(1).map(|index| index as usize)
    }

    pub fn kind(self) -> Kind {
        let payload = self.payload();
        match self.tag() {
            INT => Kind::Int(i128::from(self.0 as i64 >> TAG_BITS)),
            UPPER_INT => Kind::Int((1 << 64) - i128::from(payload)),
            WIDE_INT => Kind::WideInt(payload as u32),
            FLOAT => Kind::Float(payload as u32),
            STR => Kind::Str(StringId::from_index(payload as usize)),
            BYTES => Kind::Bytes(payload as u32),
            PAIR => Kind::Pair((payload >> PAIR_BITS) as u32, (payload & ((1 << PAIR_BITS) - 1)) as u32),
            NODE => Kind::Node(payload as u32),
            HANDLE => {
                Kind::Handle((payload & ((1 << HANDLE_KIND_BITS) - 1)) as u8, (payload >> HANDLE_KIND_BITS) as u32)
            }
            FRESH_DICT => Kind::FreshDict(payload),
            FRESH_LIST => Kind::FreshList(payload),
            _ => match payload {
                0 => Kind::None,
                1 => Kind::Bool(false),
                2 => Kind::Bool(true),
                3 => Kind::EmptyDict,
                4 => Kind::EmptyList,
                _ => Kind::EmptyTuple,
            },
        }
    }

    /// Returns a description for error messages.
    pub(crate) fn describe(self) -> &'static str {
        match self.kind() {
            Kind::Int(_) | Kind::WideInt(_) => "a whole number",
            Kind::Float(_) => "a float",
            Kind::Str(_) => "a string",
            Kind::Bytes(_) => "bytes",
            Kind::None => "None",
            Kind::Bool(_) => "a bool",
            Kind::Pair(..) | Kind::EmptyTuple => "a tuple",
            Kind::EmptyDict | Kind::FreshDict(_) => "a dictionary",
            Kind::EmptyList | Kind::FreshList(_) => "a list",
            Kind::Node(_) | Kind::Handle(..) => "a container",
        }
    }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(val: Val, kind: Kind) {
        assert_eq!(val.kind(), kind);
    }

    #[test]
    fn whole_numbers_keep_their_value() {
        for value in [0, 1, -1, 1 << 58, (1 << 59) - 1, -(1 << 59), 139_637_976_727_552] {
            check(Val::int(value).unwrap(), Kind::Int(i128::from(value)));
        }
        assert_eq!(Val::int(1 << 59), None);
        assert_eq!(Val::int(i64::MIN), None);
        check(Val::upper_int(u64::MAX).unwrap(), Kind::Int(i128::from(u64::MAX)));
        check(Val::upper_int(18_446_720_620_317_114_368).unwrap(), Kind::Int(18_446_720_620_317_114_368));
        assert_eq!(Val::upper_int(0), None);
        assert_eq!(Val::upper_int(1 << 63), None);
    }

    #[test]
    fn handles_keep_kind_and_number() {
        check(Val::handle(15, u32::MAX), Kind::Handle(15, u32::MAX));
        assert_eq!(Val::handle(3, 7).as_handle(), Some((3, 7)));
        assert_eq!(Val::small_int(3).as_handle(), None);
    }

    #[test]
    fn pairs_hold_small_numbers_only() {
        let pair = |a, b| Val::pair(Val::int(a).unwrap(), Val::int(b).unwrap());
        check(pair(0, 3).unwrap(), Kind::Pair(0, 3));
        check(pair((1 << 30) - 1, (1 << 30) - 1).unwrap(), Kind::Pair((1 << 30) - 1, (1 << 30) - 1));
        assert_eq!(pair(1 << 30, 0), None);
        assert_eq!(pair(-1, 0), None);
    }
}
