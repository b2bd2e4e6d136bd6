//! The memo: values that `GET` opcodes refer to.

use super::dense::Dense;
use super::val::{Kind, Val};
use crate::base::StringId;
use hashbrown::HashMap;

/// Values by memo index, in four bytes each if they are of a common kind.
///
/// CPython memoizes every string, tuple, list and dictionary, three or four per event.
/// The memo of a 1 GB file therefore has forty million entries, nearly all of which are never used again.
#[derive(Debug)]
pub(crate) struct Memo {
    dense: Dense,
    /// Values that do not fit into a dense entry.
    spilled: Vec<Val>,
    /// Entries at indices that no pickler would choose.
    sparse: HashMap<u64, Val>,
    /// Number of puts at an index that was not the next one.
    rewrites: u64,
}

const PAYLOAD_BITS: u32 = 28;
const PAYLOAD_MASK: u32 = (1 << PAYLOAD_BITS) - 1;
const PAIR_HALF_BITS: u32 = 14;

// Tags 0 to 8 are the handle kinds of the builder.
const FIRST_OWN_TAG: u32 = 9;
const VACANT: u32 = 9;
const STR: u32 = 10;
const PAIR: u32 = 11;
const NODE: u32 = 12;
const PENDING: u32 = 13;
const SPILLED: u32 = 14;
const EMPTY_LIST: u32 = 15;

/// Content of a memo index.
pub(crate) enum Entry {
    Vacant,
    /// Finished value, or container in the heap.
    Val(Val),
    /// Container without items so far, by its stack index.
    Pending(usize),
}

impl Default for Memo {
    fn default() -> Self {
        let dense = Dense::new(VACANT << PAYLOAD_BITS);
        Self { dense, spilled: Vec::new(), sparse: HashMap::new(), rewrites: 0 }
    }
}

impl Memo {
    /// Stack length below which records are read as a whole, so that the positions of their containers fit into
    /// entries.
    ///
    /// It is half of the limit of [`put_pending`](Self::put_pending), which leaves room for the record's own values.
    pub(crate) const MOST_PENDING: usize = 1 << (PAYLOAD_BITS - 1);

    /// Returns the number of dense entries, which is the index that `MEMOIZE` takes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.dense.len
    }

    /// Returns a count that changes when a dense entry is put again.
    ///
    /// While it stays the same, values found by [`get_common`](Self::get_common) stay valid.
    #[inline]
    pub(crate) fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Stores a value in the dense part if `index` is below `bound`, otherwise in the sparse part.
    #[inline]
    pub(crate) fn put(&mut self, index: u64, val: Val, bound: u64) {
        if index >= bound {
            self.sparse.insert(index, val);
            return;
        }
        let packed = self.pack(val);
        self.put_packed(index as usize, packed);
    }

    #[inline]
    pub(crate) fn push(&mut self, val: Val) {
        let packed = self.pack(val);
        self.dense.push(packed);
    }

    /// Stores the stack index of a container without items; returns false if it is too large for an entry.
    #[inline]
    pub(crate) fn put_pending(&mut self, index: usize, stack_position: usize) -> bool {
        let fits = stack_position < 1 << PAYLOAD_BITS;
        if fits {
            self.put_packed(index, PENDING << PAYLOAD_BITS | stack_position as u32);
        }
        fits
    }

    /// Replaces a pending entry by the finished container, unless the index was put again since.
    #[inline]
    pub(crate) fn resolve(&mut self, index: usize, stack_position: usize, val: Val) {
        if self.dense.get(index) == PENDING << PAYLOAD_BITS | stack_position as u32 {
            let packed = self.pack(val);
            self.dense.set(index, packed);
        }
    }

    #[inline(always)]
    fn put_packed(&mut self, index: usize, packed: u32) {
        if index == self.dense.len {
            return self.dense.push(packed);
        }
        while self.dense.len <= index {
            self.dense.push(VACANT << PAYLOAD_BITS);
        }
        self.rewrites += 1;
        self.dense.set(index, packed);
    }

    /// Returns a string, a builder's handle or an empty list, which nearly all values are.
    #[inline(always)]
    pub(crate) fn get_common(&self, index: u64) -> Option<Val> {
        let packed = self.dense.get(index as usize);
        let payload = packed & PAYLOAD_MASK;
        match packed >> PAYLOAD_BITS {
            STR => Some(Val::str(StringId::from_index(payload as usize))),
            kind if kind < FIRST_OWN_TAG => Some(Val::handle(kind as u8, payload)),
            EMPTY_LIST => Some(Val::EMPTY_LIST),
            _ => None,
        }
    }

    pub(crate) fn get(&self, index: u64) -> Entry {
        let packed = self.dense.get(index as usize);
        let payload = packed & PAYLOAD_MASK;
        Entry::Val(match packed >> PAYLOAD_BITS {
            STR => Val::str(StringId::from_index(payload as usize)),
            PAIR => {
                let half = |bits: u32| Val::small_int((bits & ((1 << PAIR_HALF_BITS) - 1)) as i32);
                Val::pair(half(payload >> PAIR_HALF_BITS), half(payload)).expect("small numbers make a pair")
            }
            NODE => Val::node(payload),
            SPILLED => self.spilled[payload as usize],
            EMPTY_LIST => Val::EMPTY_LIST,
            VACANT => return self.get_sparse(index),
            PENDING => return Entry::Pending(payload as usize),
            kind => Val::handle(kind as u8, payload),
        })
    }

    #[cold]
    fn get_sparse(&self, index: u64) -> Entry {
        self.sparse.get(&index).map_or(Entry::Vacant, |&val| Entry::Val(val))
    }

    #[inline]
    fn pack(&mut self, val: Val) -> u32 {
        if let Some((kind, number)) = val.as_handle()
            && u32::from(kind) < FIRST_OWN_TAG
            && number <= PAYLOAD_MASK
        {
            return u32::from(kind) << PAYLOAD_BITS | number;
        }
        self.pack_other(val)
    }

    #[inline]
    fn pack_other(&mut self, val: Val) -> u32 {
        let (tag, payload) = match val.kind() {
            Kind::Str(id) => (STR, id.index() as u32),
            Kind::Pair(a, b) if (a | b) < 1 << PAIR_HALF_BITS => (PAIR, a << PAIR_HALF_BITS | b),
            Kind::Node(index) => (NODE, index),
            Kind::EmptyList => (EMPTY_LIST, 0),
            _ => return self.spill(val),
        };
        if payload > PAYLOAD_MASK { self.spill(val) } else { tag << PAYLOAD_BITS | payload }
    }

    #[cold]
    fn spill(&mut self, val: Val) -> u32 {
        if self.spilled.len() > PAYLOAD_MASK as usize {
            // A quarter of a billion spilled values: they are mostly numbers, which no pickler memoizes.
            return VACANT << PAYLOAD_BITS;
        }
        self.spilled.push(val);
        SPILLED << PAYLOAD_BITS | (self.spilled.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(val: Val) {
        let mut memo = Memo::default();
        for index in [0, 5, 2, u64::MAX] {
            memo.put(index, val, 100);
            assert!(matches!(memo.get(index), Entry::Val(back) if back == val), "{val:?} at {index}");
        }
        assert!(matches!(memo.get(1), Entry::Vacant));
        assert!(matches!(memo.get(99), Entry::Vacant));
    }

    #[test]
    fn every_kind_of_value_comes_back() {
        let pair = |a, b| Val::pair(Val::small_int(a), Val::small_int(b)).unwrap();
        for val in [Val::NONE, Val::TRUE, Val::EMPTY_LIST, Val::EMPTY_DICT, Val::small_int(-7), pair(0, 1)] {
            check(val);
        }
        check(pair(1 << 20, 3));
        check(Val::str(StringId::from_index(77)));
        check(Val::str(StringId::from_index(1 << 30)));
        check(Val::handle(8, 5));
        check(Val::handle(9, 5));
        check(Val::handle(0, u32::MAX));
        check(Val::node(1 << 29));
    }
}
