//! Pools hold the free blocks in the order in which they are searched.

use super::block::{Block, BlockId};
use super::free_list::{FreeKey, FreeList};
use std::collections::BTreeSet;

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
    /// Returns the free blocks of a stream, `None` if it never had any.
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

    /// Iterates over all ranges without memory.
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
