//! The memo: what `GET` opcodes refer back to.

use super::val::{Kind, Val};
use crate::base::StringId;
use hashbrown::HashMap;

/// Values by memo index, four bytes each for everything that is common.
///
/// CPython memoizes every string, tuple, list and dictionary, three or four for each event, so that the memo of a
/// file of a gigabyte has forty million entries, nearly none of which is used again.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    dense: Dense,
    /// What does not fit into a dense entry.
    spilled: Vec<Val>,
    /// Entries at indices that no pickler would choose.
    sparse: HashMap<u64, Val>,
    /// How often an entry was put where there was one.
    rewrites: u64,
}

/// Entries in chunks of equal length, which never move.
///
/// A [`Column`](crate::base::Column) without what the memo has no use for: here the chunks' length is known when this
/// is compiled, and what was not put is vacant.
#[derive(Debug, Default)]
struct Dense {
    chunks: Vec<Box<[u32; CHUNK_LEN]>>,
    len: usize,
}

const CHUNK_BITS: u32 = 12;
const CHUNK_LEN: usize = 1 << CHUNK_BITS;

impl Dense {
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self.chunks.get(index >> CHUNK_BITS).map_or(VACANT << PAYLOAD_BITS, |chunk| chunk[index % CHUNK_LEN])
    }

    /// Replaces an entry below the length.
    #[inline(always)]
    fn set(&mut self, index: usize, packed: u32) {
        self.chunks[index >> CHUNK_BITS][index % CHUNK_LEN] = packed;
    }

    #[inline(always)]
    fn push(&mut self, packed: u32) {
        if self.len.is_multiple_of(CHUNK_LEN) {
            self.add_chunk();
        }
        self.len += 1;
        self.set(self.len - 1, packed);
    }

    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self) {
        self.chunks.push(Box::new([VACANT << PAYLOAD_BITS; CHUNK_LEN]));
    }
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

/// What a memo index holds.
pub(crate) enum Entry {
    /// Nothing.
    Vacant,
    /// A finished value, or a container in the heap.
    Val(Val),
    /// A container without items so far, by its place on the stack.
    Pending(usize),
}

impl Memo {
    /// A container that has not been filled yet is remembered by its place on the stack, which is below this.
    pub(crate) const MOST_PENDING: usize = 1 << (PAYLOAD_BITS - 1);

    /// The number of entries in a row from index 0, which is the index that `MEMOIZE` takes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.dense.len
    }

    /// How often a dense entry was replaced by another: as long as this stays, so does what was found in the memo.
    #[inline]
    pub(crate) fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Remembers a value at an index below `bound`, or in the sparse part beyond it.
    #[inline]
    pub(crate) fn put(&mut self, index: u64, val: Val, bound: u64) {
        if index >= bound {
            self.sparse.insert(index, val);
            return;
        }
        let packed = self.pack(val);
        self.put_packed(index as usize, packed);
    }

    /// Remembers that the container at a place on the stack has this index.
    #[inline]
    pub(crate) fn put_pending(&mut self, index: usize, stack_position: usize) -> bool {
        let fits = stack_position < 1 << PAYLOAD_BITS;
        if fits {
            self.put_packed(index, PENDING << PAYLOAD_BITS | stack_position as u32);
        }
        fits
    }

    /// Replaces a pending entry by the finished container, unless the index was used again since.
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

    /// The value at an index, if it is a text, a handle of the builder or an empty list, as nearly all are.
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

    /// What an index holds.
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
        let (tag, payload) = match val.kind() {
            Kind::Handle(kind, number) if u32::from(kind) < FIRST_OWN_TAG => (u32::from(kind), number),
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
            // A quarter of a billion memoized numbers: no pickler memoizes one.
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
