//! Blocks: the pieces that tile the segments, each linked with its neighbours.

use std::ops::{Index, IndexMut};

use super::pool::PoolIndex;

/// A handle to a block; it is good from the request to the end of the free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(super) u32);

/// What a block is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockUse {
    /// In use.
    Allocated,
    /// Freed by the user, still needed by another stream.
    PendingFree,
    /// In its pool.
    Free,
    /// Addresses of an expandable segment without memory.
    Unmapped,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
    /// The unrounded request; stale while the block is free.
    pub(super) requested_bytes: u64,
    pub(super) stream: u64,
    /// How many searches its pool had seen when the block became free: its age counts from there.
    pub(super) free_since: u64,
    pub(super) prev: Option<BlockId>,
    pub(super) next: Option<BlockId>,
    /// Which segment of all came first, where the version orders equal blocks by that; else 0.
    pub(super) order: u32,
    /// The expandable segment that it is part of.
    pub(super) reservation: Option<u32>,
    pub(super) pool: PoolIndex,
    pub(super) state: BlockUse,
    /// Whether a stream other than its own used it.
    pub(super) is_shared: bool,
}

impl Block {
    /// A free block without neighbours.
    pub(super) fn new(addr: u64, size_bytes: u64, stream: u64, pool: PoolIndex) -> Self {
        Self {
            addr,
            size_bytes,
            requested_bytes: 0,
            stream,
            free_since: 0,
            prev: None,
            next: None,
            order: 0,
            reservation: None,
            pool,
            state: BlockUse::Free,
            is_shared: false,
        }
    }

    /// Whether it is only a part of its segment.
    pub(super) fn is_split(&self) -> bool {
        self.prev.is_some() || self.next.is_some()
    }

    /// Whether nobody uses it, mapped or not.
    pub(super) fn is_available(&self) -> bool {
        matches!(self.state, BlockUse::Free | BlockUse::Unmapped)
    }

    /// One past the last address.
    pub(super) fn end(&self) -> u64 {
        self.addr.saturating_add(self.size_bytes)
    }
}

/// All blocks; places of deleted ones are used again.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    rows: Vec<Option<Block>>,
    vacant: Vec<BlockId>,
}

impl Blocks {
    pub(super) fn add(&mut self, block: Block) -> BlockId {
        if let Some(id) = self.vacant.pop() {
            self.rows[id.0 as usize] = Some(block);
            return id;
        }
        let id = BlockId(u32::try_from(self.rows.len()).expect("fewer than 2^32 blocks"));
        self.rows.push(Some(block));
        id
    }

    pub(super) fn remove(&mut self, id: BlockId) {
        self.rows[id.0 as usize] = None;
        self.vacant.push(id);
    }

    /// All blocks in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        let id = |index: usize| BlockId(index as u32);
        self.rows.iter().enumerate().filter_map(move |(index, row)| Some((id(index), row.as_ref()?)))
    }

    /// Cuts `size_bytes` off the front of a block: the front is new, the rest keeps its handle.
    pub(super) fn split_front(&mut self, rest: BlockId, size_bytes: u64) -> BlockId {
        let block = self[rest];
        let front = self.add(Block { size_bytes, next: Some(rest), ..block });
        if let Some(prev) = block.prev {
            self[prev].next = Some(front);
        }
        let rest = &mut self[rest];
        (rest.addr, rest.size_bytes, rest.prev) = (block.addr + size_bytes, block.size_bytes - size_bytes, Some(front));
        front
    }

    /// Cuts the end off a block, which keeps `size_bytes`; the end is new.
    pub(super) fn split_back(&mut self, front: BlockId, size_bytes: u64) -> BlockId {
        let block = self[front];
        let back = self.add(Block {
            addr: block.addr + size_bytes,
            size_bytes: block.size_bytes - size_bytes,
            requested_bytes: 0,
            prev: Some(front),
            ..block
        });
        if let Some(next) = block.next {
            self[next].prev = Some(back);
        }
        (self[front].size_bytes, self[front].next) = (size_bytes, Some(back));
        back
    }

    /// Adds a neighbour's range to a block and deletes the neighbour.
    pub(super) fn absorb(&mut self, block: BlockId, neighbour: BlockId) {
        let gone = self[neighbour];
        if gone.next == Some(block) {
            (self[block].addr, self[block].prev) = (gone.addr, gone.prev);
            if let Some(prev) = gone.prev {
                self[prev].next = Some(block);
            }
        } else {
            self[block].next = gone.next;
            if let Some(next) = gone.next {
                self[next].prev = Some(block);
            }
        }
        self[block].size_bytes += gone.size_bytes;
        self.remove(neighbour);
    }
}

impl Index<BlockId> for Blocks {
    type Output = Block;

    fn index(&self, id: BlockId) -> &Block {
        self.rows[id.0 as usize].as_ref().expect("a handle of a block that lives")
    }
}

impl IndexMut<BlockId> for Blocks {
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        self.rows[id.0 as usize].as_mut().expect("a handle of a block that lives")
    }
}
