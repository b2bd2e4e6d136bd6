//! Keeps the free blocks of pools, stream by stream, in the order in which best fit searches them.
//!
//! Idea: sizes are divided into classes, 16 for each power of two, and a bit for each class says whether it has blocks,
//! as in the segregated lists of TLSF (Masmano et al., 2004). A search begins in the class of the request; if nothing
//! there is large enough, the first block of the next class with blocks is the best, since classes are in the order of
//! their sizes.
//!
//! ```text
//! class     size in units of 512 bytes
//! 0..=15    0, 1, … 15
//! 16..=31   16, 17, … 31
//! 32..=47   32 and 33, 34 and 35, … 62 and 63
//! 48..=63   64 to 67, …
//! ```
//!
//! A class holds a short sorted list, and a tree once the list is full, so that no order of requests costs more than
//! O(log free blocks). Classes halve the time of a replay compared with sorted trees.
//!
//! Equal free blocks are taken by address, and from PyTorch 2.13 on by the age of their segments, so that addresses
//! matter. Only PyTorch 2.12 counted blocks instead, which is not modelled.

use super::block::{Block, BlockId};
use super::rounding::MIN_BLOCK;
use std::collections::BTreeSet;
use std::ops::Bound;

/// Sort key of a free block: size, age of its segment where the version orders by it, then address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FreeKey {
    pub(super) size_bytes: u64,
    order: u32,
    addr: u64,
    pub(super) id: BlockId,
}

impl FreeKey {
    #[inline]
    pub(super) fn of(id: BlockId, block: &Block) -> Self {
        Self { size_bytes: block.size_bytes, order: block.order, addr: block.addr, id }
    }

    /// Returns the lower bound of all keys with that size.
    fn from_size(size_bytes: u64) -> Self {
        Self { size_bytes, order: 0, addr: 0, id: BlockId::FIRST }
    }
}

/// Classes for each power of two, as a power of two.
const CLASS_BITS: u32 = 4;
/// Number of keys from which a class keeps a tree.
const FULL: usize = 32;

/// Returns the class of blocks of that size.
#[inline]
fn class_of(size_bytes: u64) -> usize {
    let units = size_bytes / MIN_BLOCK;
    let Some(shift) = units.checked_ilog2().and_then(|power| power.checked_sub(CLASS_BITS)) else {
        return units as usize;
    };
    (units >> shift) as usize + ((shift as usize) << CLASS_BITS)
}

/// Sorted set of free blocks.
#[derive(Debug, Default)]
pub(super) struct FreeList {
    /// By class, up to the highest that ever had a key.
    classes: Vec<Class>,
    /// Bit `class % 64` of word `class / 64` is set if the class has keys.
    occupied: Vec<u64>,
}

impl FreeList {
    #[inline]
    pub(super) fn insert(&mut self, key: FreeKey) {
        let class = class_of(key.size_bytes);
        if class >= self.classes.len() {
            self.classes.resize_with(class + 1, Class::default);
            self.occupied.resize(class / 64 + 1, 0);
        }
        self.classes[class].insert(key);
        self.occupied[class / 64] |= 1 << (class % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, key: &FreeKey) {
        let class = class_of(key.size_bytes);
        if self.classes[class].remove(key) {
            self.occupied[class / 64] &= !(1 << (class % 64));
        }
    }

    pub(super) fn contains(&self, key: &FreeKey) -> bool {
        self.next(Bound::Included(key), class_of(key.size_bytes)) == Some(*key)
    }

    /// Returns the first key of at least that size.
    #[inline]
    pub(super) fn first_from(&self, size_bytes: u64) -> Option<FreeKey> {
        self.next(Bound::Included(&FreeKey::from_size(size_bytes)), class_of(size_bytes))
    }

    /// Iterates over the keys of at least that size, in their order.
    pub(super) fn at_least(&self, size_bytes: u64) -> impl Iterator<Item = FreeKey> + '_ {
        let first = self.first_from(size_bytes);
        first.into_iter().chain(first.into_iter().flat_map(|first| self.after(first)))
    }

    /// Iterates over the keys after one, in their order.
    pub(super) fn after(&self, key: FreeKey) -> impl Iterator<Item = FreeKey> + '_ {
        let mut last = key;
        std::iter::from_fn(move || {
            last = self.next(Bound::Excluded(&last), class_of(last.size_bytes))?;
            Some(last)
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FreeKey> + '_ {
        self.at_least(0)
    }

    /// Returns the first key beyond a bound that lies in `class`.
    #[inline]
    fn next(&self, bound: Bound<&FreeKey>, class: usize) -> Option<FreeKey> {
        let of_class = self.classes.get(class)?.next(bound);
        of_class.or_else(|| self.classes[self.occupied_after(class)?].next(Bound::Unbounded))
    }

    /// Returns the first class after `class` that has keys.
    #[inline]
    fn occupied_after(&self, class: usize) -> Option<usize> {
        let start = class + 1;
        let mut word = start / 64;
        let mut bits = self.occupied.get(word)? & (u64::MAX << (start % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

#[derive(Debug)]
enum Class {
    Few(Vec<FreeKey>),
    Many(BTreeSet<FreeKey>),
}

/// Inserts a key into a short sorted list, where moving the keys behind it one by one is faster than searching first.
#[inline]
fn insert_sorted(keys: &mut Vec<FreeKey>, key: FreeKey) {
    let mut index = keys.len();
    keys.push(key);
    while index > 0 && key < keys[index - 1] {
        keys[index] = keys[index - 1];
        index -= 1;
    }
    keys[index] = key;
}

impl Default for Class {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Class {
    #[inline]
    fn insert(&mut self, key: FreeKey) {
        match self {
            Self::Few(keys) if keys.len() < FULL => insert_sorted(keys, key),
            _ => self.insert_into_tree(key.size_bytes, key.order, key.addr, key.id),
        }
    }

    /// Inserts a key into a tree; it comes in parts, so that the key of a short list never needs an address.
    #[cold]
    fn insert_into_tree(&mut self, size_bytes: u64, order: u32, addr: u64, id: BlockId) {
        let key = FreeKey { size_bytes, order, addr, id };
        match self {
            Self::Few(keys) => *self = Self::Many(keys.drain(..).chain([key]).collect()),
            Self::Many(keys) => drop(keys.insert(key)),
        }
    }

    /// Removes a key; returns true if it was the last one.
    #[inline]
    fn remove(&mut self, key: &FreeKey) -> bool {
        match self {
            Self::Few(keys) => {
                if let Some(index) = keys.iter().position(|held| held.id == key.id) {
                    keys.remove(index);
                }
                keys.is_empty()
            }
            Self::Many(keys) => {
                keys.remove(key);
                let is_empty = keys.is_empty();
                if is_empty {
                    *self = Self::default();
                }
                is_empty
            }
        }
    }

    #[inline]
    fn next(&self, bound: Bound<&FreeKey>) -> Option<FreeKey> {
        match self {
            Self::Few(keys) => {
                let is_before = |held: &FreeKey| match bound {
                    Bound::Included(first) => held < first,
                    Bound::Excluded(last) => held <= last,
                    Bound::Unbounded => false,
                };
                keys.get(keys.partition_point(is_before)).copied()
            }
            Self::Many(keys) => keys.range((bound, Bound::Unbounded)).next().copied(),
        }
    }
}

/// Free blocks of one stream.
#[derive(Debug, Default)]
pub(super) struct FreeBlocks {
    /// Free blocks with memory.
    pub(super) mapped: FreeList,
    /// Ranges of expandable segments without memory, by address.
    pub(super) unmapped: BTreeSet<(u64, BlockId)>,
}

/// Free blocks of one half of a pool.
///
/// PyTorch keeps one set sorted by stream first; streams are few, so here each stream has a set of its own.
#[derive(Debug, Default)]
pub(super) struct HalfPool {
    /// Sorted by stream.
    streams: Vec<(u64, FreeBlocks)>,
    /// Number of searches while garbage collection is on.
    pub(super) searches: u64,
}

impl HalfPool {
    #[inline]
    pub(super) fn of(&self, stream: u64) -> Option<&FreeBlocks> {
        self.streams.iter().find(|(key, _)| *key == stream).map(|(_, free)| free)
    }

    /// Returns the free blocks of a stream, creating an empty entry if there is none.
    #[inline]
    pub(super) fn of_mut(&mut self, stream: u64) -> &mut FreeBlocks {
        let index = self.streams.iter().position(|(key, _)| *key == stream).unwrap_or_else(|| {
            let index = self.streams.partition_point(|(key, _)| *key < stream);
            self.streams.insert(index, (stream, FreeBlocks::default()));
            index
        });
        &mut self.streams[index].1
    }

    /// Iterates over all free blocks with memory, by stream and sort key.
    pub(super) fn mapped(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.streams.iter().flat_map(|(_, free)| free.mapped.iter().map(|key| key.id))
    }

    pub(super) fn unmapped(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.streams.iter().flat_map(|(_, free)| free.unmapped.iter().map(|key| key.1))
    }

    #[inline]
    pub(super) fn insert(&mut self, id: BlockId, block: &mut Block) {
        block.free_since = self.searches;
        self.of_mut(block.stream).mapped.insert(FreeKey::of(id, block));
    }

    #[inline]
    pub(super) fn remove(&mut self, id: BlockId, block: &Block) {
        self.of_mut(block.stream).mapped.remove(&FreeKey::of(id, block));
    }

    pub(super) fn insert_unmapped(&mut self, id: BlockId, block: &Block) {
        self.of_mut(block.stream).unmapped.insert((block.addr, id));
    }

    pub(super) fn remove_unmapped(&mut self, id: BlockId, block: &Block) {
        self.of_mut(block.stream).unmapped.remove(&(block.addr, id));
    }
}

/// Options of a `torch.cuda.MemPool`; the pool of a CUDA graph has none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// `no_split`: blocks are never split, so each is a whole segment.
    pub is_unsplit: bool,
    /// `use_on_oom`: requests of the default pool may take free blocks from this one when the device is full.
    ///
    /// Of several such pools the oldest is asked first; PyTorch asks them in the order of a hash table.
    pub helps_out: bool,
}

/// A pool with its two halves and its users.
#[derive(Debug)]
pub(super) struct Pool {
    halves: [HalfPool; 2],
    /// Captures and `MemPool`s that use it; its segments are kept while there is at least one.
    pub(super) users: u32,
    pub(super) options: PoolOptions,
}

impl Pool {
    pub(super) fn new(options: PoolOptions) -> Self {
        Self { halves: Default::default(), users: 1, options }
    }

    #[inline]
    pub(super) fn half(&self, is_small: bool) -> &HalfPool {
        &self.halves[usize::from(is_small)]
    }

    #[inline]
    pub(super) fn half_mut(&mut self, is_small: bool) -> &mut HalfPool {
        &mut self.halves[usize::from(is_small)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_their_sizes() {
        let classes = |units: std::ops::RangeInclusive<u64>| units.map(|unit| class_of(unit * 512)).collect::<Vec<_>>();
        assert_eq!(classes(0..=33), (0..=32).chain([32]).collect::<Vec<_>>());
        assert_eq!(classes(62..=68), [47, 47, 48, 48, 48, 48, 49]);
        let near = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + MIN_BLOCK];
        let mut sizes: Vec<u64> = (0..64).flat_map(near).collect();
        sizes.sort_unstable();
        assert!(sizes.is_sorted_by_key(|size| class_of(*size)) && class_of(u64::MAX) < 1024);
    }

    /// Inserts and removes keys at random, and compares each answer with a plain sorted set.
    #[test]
    fn it_answers_as_a_sorted_set() {
        for (seed, most_units) in [(1, 4), (2, 40), (3, 3000), (4, 1 << 30)] {
            let (mut list, mut sorted, mut random) = (FreeList::default(), BTreeSet::new(), seed);
            let mut draw = |below: u64| {
                random = u64::wrapping_mul(random, 6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % below
            };
            for step in 0..4000 {
                // The set grows to some hundreds, shrinks until it is empty, and grows again.
                if sorted.is_empty() || draw(5) > step / 500 % 2 * 3 {
                    let key = FreeKey {
                        size_bytes: draw(most_units) * MIN_BLOCK + draw(2),
                        order: draw(3) as u32,
                        addr: draw(4),
                        id: BlockId::of_row(step as usize),
                    };
                    list.insert(key);
                    sorted.insert(key);
                } else {
                    let nth = draw(sorted.len() as u64) as usize;
                    let key = *sorted.iter().nth(nth).expect("a key");
                    list.remove(&key);
                    sorted.remove(&key);
                }
                let size_bytes = draw(most_units) * MIN_BLOCK;
                let first = sorted.range(FreeKey::from_size(size_bytes)..).next().copied();
                assert_eq!(list.first_from(size_bytes), first);
                if step % 50 == 0 {
                    assert!(list.iter().eq(sorted.iter().copied()), "seed {seed}, step {step}");
                }
            }
        }
    }
}
