//! The final state of one device: segments and the blocks that tile them.

use super::{PoolId, StackId};
use std::ops::Range;

/// The pool class of a segment, `small` for requests up to 1 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SegmentType {
    /// Requests of up to 1 MiB.
    Small,
    /// All larger requests.
    #[default]
    Large,
}

impl SegmentType {
    /// The name in snapshot files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// What a block is at the moment of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// In use.
    Allocated,
    /// Freed by the user, still needed by another stream.
    PendingFree,
    /// Free.
    #[default]
    Inactive,
}

impl BlockState {
    /// The name in snapshot files; PyTorch's documentation says `active_awaiting_free` for the second.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocated => "active_allocated",
            Self::PendingFree => "active_pending_free",
            Self::Inactive => "inactive",
        }
    }
}

/// One segment: memory that came from `cudaMalloc`, or one mapped range of an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first address.
    pub addr: u64,
    /// The length.
    pub size_bytes: u64,
    /// Bytes of blocks in use, as the file says.
    pub allocated_bytes: u64,
    /// The same plus blocks with a pending free, as the file says.
    pub active_bytes: u64,
    /// Unrounded bytes of active blocks, where the file says so (torch 2.0 on).
    pub requested_bytes: Option<u64>,
    /// The raw stream handle.
    pub stream: u64,
    /// Small or large pool.
    pub segment_type: SegmentType,
    /// The pool, where the file names one (torch 2.1 on).
    pub pool: Option<PoolId>,
    /// Whether it is expandable, where the file says so (torch 2.1 on).
    pub is_expandable: Option<bool>,
    /// The stack of the `cudaMalloc` or first map.
    pub stack: StackId,
    /// First and one past the last of its blocks in the table.
    pub blocks: (u32, u32),
}

/// One block of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first address, summed up from the sizes where the file has none (before torch 2.1).
    pub addr: u64,
    /// The rounded length.
    pub size_bytes: u64,
    /// The unrounded request; stale on inactive blocks, `None` where the file has none.
    pub requested_bytes: Option<u64>,
    /// In use, pending or free.
    pub state: BlockState,
    /// The stack of the allocation.
    pub stack: StackId,
    /// First and one past the last of its entries in [`SegmentTable::history`].
    pub history: (u32, u32),
}

impl Block {
    /// Live bytes of an active block: the request, or the rounded size where that is 0 or absent.
    ///
    /// It is 0 for an inactive block.
    pub fn live_bytes(&self) -> u64 {
        match (self.state, self.requested_bytes) {
            (BlockState::Inactive, _) => 0,
            (_, Some(requested)) if requested > 0 => requested,
            _ => self.size_bytes,
        }
    }
}

/// One entry of a block's `history` (torch 1.13 to 2.0), newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The address that was handed out.
    pub addr: u64,
    /// The unrounded request.
    pub requested_bytes: u64,
    /// The stack of the allocation.
    pub stack: StackId,
}

/// The segments of one device and the blocks that tile them, both in address order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentTable {
    /// The segments in the order of the file.
    pub segments: Vec<Segment>,
    /// The blocks of all segments, segment after segment.
    pub blocks: Vec<Block>,
    /// The histories of all blocks, block after block.
    pub history: Vec<HistoryEntry>,
}

impl SegmentTable {
    /// The blocks of one segment.
    pub fn blocks_of(&self, segment: &Segment) -> &[Block] {
        &self.blocks[range(segment.blocks)]
    }

    /// The history of one block.
    pub fn history_of(&self, block: &Block) -> &[HistoryEntry] {
        &self.history[range(block.history)]
    }

    /// Sum of the segments' lengths: PyTorch's *reserved*.
    pub fn reserved_bytes(&self) -> u64 {
        self.sum(|segment| segment.size_bytes)
    }

    /// Sum of the rounded sizes of blocks in use: PyTorch's *allocated*.
    pub fn allocated_bytes(&self) -> u64 {
        self.sum(|segment| segment.allocated_bytes)
    }

    /// The same plus pending frees: PyTorch's *active*.
    pub fn active_bytes(&self) -> u64 {
        self.sum(|segment| segment.active_bytes)
    }

    /// A damaged file may claim more than 2^64 bytes.
    fn sum(&self, bytes: impl Fn(&Segment) -> u64) -> u64 {
        self.segments.iter().map(bytes).fold(0, u64::saturating_add)
    }

    pub(super) fn check(&self, stacks: usize) {
        let Self { segments, blocks, history } = self;
        let mut next_block = 0;
        for segment in segments {
            assert_eq!(segment.blocks.0, next_block, "blocks follow their segments");
            assert!(segment.blocks.0 <= segment.blocks.1, "block range");
            assert!(segment.stack.index() < stacks, "stack handle of a segment");
            next_block = segment.blocks.1;
        }
        assert_eq!(next_block as usize, blocks.len(), "every block has a segment");
        let mut next_entry = 0;
        for block in blocks {
            assert_eq!(block.history.0, next_entry, "histories follow their blocks");
            assert!(block.history.0 <= block.history.1, "history range");
            assert!(block.stack.index() < stacks, "stack handle of a block");
            next_entry = block.history.1;
        }
        assert_eq!(next_entry as usize, history.len(), "every history entry has a block");
        assert!(history.iter().all(|entry| entry.stack.index() < stacks), "stack handle of a history");
    }
}

fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}
