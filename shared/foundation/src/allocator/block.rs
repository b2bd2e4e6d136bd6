//! Defines the allocator's blocks, and its events as PyTorch's memory history would record them.
//!
//! Blocks tile the segments; each is linked with its neighbours.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// Handle of a block, valid from the request until the block is back in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(NonZeroU32);

impl BlockId {
    /// Handle of the first row of a table.
    pub(super) const FIRST: Self = Self(NonZeroU32::MIN);

    pub(super) fn of_row(row: usize) -> Self {
        let number = u32::try_from(row + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2^32 blocks"))
    }

    #[inline]
    fn row(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockUse {
    Allocated,
    /// Freed by the user, but still in use on another stream.
    PendingFree,
    Free,
    /// Addresses of an expandable segment without memory.
    Unmapped,
}

/// Range of addresses with one state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
    /// Unrounded request; stale while the block is free.
    pub(super) requested_bytes: u64,
    pub(super) stream: u64,
    /// Value of its pool's search counter when the block became free; its age is counted from there.
    pub(super) free_since: u64,
    pub(super) prev: Option<BlockId>,
    pub(super) next: Option<BlockId>,
    /// Rank of the segment by age where the version orders equal blocks by it; otherwise 0.
    pub(super) order: u32,
    /// Index of the expandable segment that the block belongs to.
    pub(super) reservation: Option<u32>,
    pub(super) pool: PoolIndex,
    pub(super) state: BlockUse,
    /// True if a stream other than the block's own used it.
    pub(super) is_shared: bool,
}

impl Block {
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

    /// Returns true if the block is only a part of its segment.
    pub(super) fn is_split(&self) -> bool {
        self.prev.is_some() || self.next.is_some()
    }

    /// Returns true if the block is free, mapped or not.
    pub(super) fn is_available(&self) -> bool {
        matches!(self.state, BlockUse::Free | BlockUse::Unmapped)
    }

    pub(super) fn end(&self) -> u64 {
        self.addr.saturating_add(self.size_bytes)
    }
}

/// Table of all blocks; rows of deleted blocks are reused.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    rows: Vec<Option<Block>>,
    vacant: Vec<BlockId>,
}

impl Blocks {
    pub(super) fn add(&mut self, block: Block) -> BlockId {
        if let Some(id) = self.vacant.pop() {
            self.rows[id.row()] = Some(block);
            return id;
        }
        let id = BlockId::of_row(self.rows.len());
        self.rows.push(Some(block));
        id
    }

    pub(super) fn remove(&mut self, id: BlockId) {
        self.rows[id.row()] = None;
        self.vacant.push(id);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.rows.iter().enumerate().filter_map(|(index, row)| Some((BlockId::of_row(index), row.as_ref()?)))
    }

    /// Splits `size_bytes` off the front of a block: the front gets a new handle, the rest keeps the old one.
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

    /// Splits the end off a block, which keeps `size_bytes`; the end gets a new handle.
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

    /// Adds the range of a neighbour to a block and deletes the neighbour.
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

    #[inline]
    fn index(&self, id: BlockId) -> &Block {
        self.rows[id.row()].as_ref().expect("a handle of a block that lives")
    }
}

impl IndexMut<BlockId> for Blocks {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        self.rows[id.row()].as_mut().expect("a handle of a block that lives")
    }
}

/// Handle of a pool of small and large blocks: the default pool or a private one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub(super) u32);

impl PoolKey {
    /// Pool of all requests that no private pool takes.
    pub const DEFAULT: Self = Self(0);
}

/// Handle of the small or the large half of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolIndex(u32);

impl PoolIndex {
    #[inline]
    pub(super) fn new(pool: PoolKey, is_small: bool) -> Self {
        Self(pool.0 * 2 + u32::from(is_small))
    }

    #[inline]
    pub(super) fn key(self) -> PoolKey {
        PoolKey(self.0 / 2)
    }

    #[inline]
    pub(super) fn is_small(self) -> bool {
        self.0 % 2 == 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// A block was handed out; the size is the requested one.
    Alloc,
    /// The user freed a block; the size is the requested one.
    FreeRequested,
    /// A block is back in its pool; the size is the requested one.
    FreeCompleted,
    /// A segment was allocated by the driver.
    SegmentAlloc,
    SegmentFree,
    /// Pages were mapped into an expandable segment.
    SegmentMap,
    /// Pages of an expandable segment were unmapped.
    SegmentUnmap,
    /// A request failed; the size is the rounded one, the address is the device's free bytes.
    Oom,
}

impl EventKind {
    /// Returns the name in snapshot files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alloc => "alloc",
            Self::FreeRequested => "free_requested",
            Self::FreeCompleted => "free_completed",
            Self::SegmentAlloc => "segment_alloc",
            Self::SegmentFree => "segment_free",
            Self::SegmentMap => "segment_map",
            Self::SegmentUnmap => "segment_unmap",
            Self::Oom => "oom",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    pub kind: EventKind,
    /// Address; see [`EventKind`] for `oom`.
    pub addr: u64,
    /// Requested or rounded size, see [`EventKind`].
    pub size_bytes: u64,
    /// Raw handle of the stream.
    pub stream: u64,
    pub pool: PoolKey,
}
