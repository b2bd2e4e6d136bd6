//! Stores the final state of one device: segments and the blocks that tile them.

use super::{ContextTable, Event, PoolId, StackId};
use std::collections::BTreeMap;
use std::ops::Range;

/// Size of the segments of the small pool; PyTorch requests no segment of this size for the large pool.
const SMALL_SEGMENT_BYTES: u64 = 2 << 20;

/// Pool class of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SegmentType {
    /// For requests of up to 1 MiB.
    Small,
    /// For all larger requests.
    #[default]
    Large,
}

crate::names!(SegmentType {
    Small => "small",
    Large => "large",
});

/// State of a block at the time of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// In use.
    Allocated,
    /// Freed by the user, but still needed by another stream; PyTorch's documentation calls it `active_awaiting_free`.
    PendingFree,
    #[default]
    Inactive,
}

crate::names!(BlockState {
    Allocated => "active_allocated",
    PendingFree => "active_pending_free",
    Inactive => "inactive",
});

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub addr: u64,
    pub size_bytes: u64,
    /// Bytes of blocks in use, as stated in the file.
    pub allocated_bytes: u64,
    /// Bytes of blocks in use and blocks with a pending free, as stated in the file.
    pub active_bytes: u64,
    /// Unrounded bytes of active blocks, if stated in the file (torch 2.0 on).
    pub requested_bytes: Option<u64>,
    /// Raw stream handle.
    pub stream: u64,
    pub segment_type: SegmentType,
    /// Pool, if the file names it (torch 2.1 on).
    pub pool: Option<PoolId>,
    /// True for a part of an expandable segment; `None` if the file does not say (before torch 2.1).
    pub is_expandable: Option<bool>,
    /// Stack of the `cudaMalloc` or of the first map.
    pub stack: StackId,
    /// Range of its blocks in [`SegmentTable::blocks`]: the first one and one past the last.
    pub blocks: (u32, u32),
}

impl Segment {
    /// Returns the segment of a segment event, without blocks; its pool is inferred from its size.
    pub(crate) fn of_event(event: &Event, contexts: &ContextTable, is_expandable: bool) -> Self {
        let context = contexts.get(event.context);
        let is_small = event.size_bytes == SMALL_SEGMENT_BYTES;
        Self {
            addr: event.addr,
            size_bytes: event.size_bytes,
            requested_bytes: Some(0),
            stream: context.stream,
            pool: context.pool,
            segment_type: if is_small { SegmentType::Small } else { SegmentType::Large },
            is_expandable: Some(is_expandable),
            ..Self::default()
        }
    }
}

/// Removes a range of addresses from segments by address; `place` is the address and the size of one.
pub(crate) fn cut<T: Copy>(
    held: &mut BTreeMap<u64, T>,
    Range { start, end }: Range<u64>,
    place: fn(&mut T) -> (&mut u64, &mut u64),
) {
    let before = held.range(..start).next_back().map(|(&addr, _)| addr);
    let within: Vec<u64> = before.into_iter().chain(held.range(start..end).map(|(&addr, _)| addr)).collect();
    for addr in within {
        let mut part = held[&addr];
        let whole_end = addr.saturating_add(*place(&mut part).1);
        if whole_end <= start {
            continue;
        }
        held.remove(&addr);
        for (start, end) in [(addr, start), (end, whole_end)].into_iter().filter(|(start, end)| start < end) {
            let (addr, size_bytes) = place(&mut part);
            (*addr, *size_bytes) = (start, end - start);
            held.insert(start, part);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First address, computed from the sizes if the file has none (before torch 2.1).
    pub addr: u64,
    pub size_bytes: u64,
    /// Unrounded request; stale on inactive blocks, `None` if the file has none.
    pub requested_bytes: Option<u64>,
    pub state: BlockState,
    pub stack: StackId,
    /// Range of its entries in [`SegmentTable::history`]: the first one and one past the last.
    pub history: (u32, u32),
}

impl Block {
    /// Returns the request of an active block, or its rounded size if that is 0 or absent; 0 for an inactive one.
    pub fn live_bytes(&self) -> u64 {
        match (self.state, self.requested_bytes) {
            (BlockState::Inactive, _) => 0,
            (_, Some(requested)) if requested > 0 => requested,
            _ => self.size_bytes,
        }
    }
}

/// Entry of a block's `history` (torch 1.13 to 2.0), which is ordered newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Address that was handed out.
    pub addr: u64,
    /// Unrounded request.
    pub requested_bytes: u64,
    pub stack: StackId,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentTable {
    /// Segments in the order of the file, or by address if they are those at the end of a part.
    pub segments: Vec<Segment>,
    /// Blocks of all segments, segment after segment.
    pub blocks: Vec<Block>,
    /// Histories of all blocks, block after block.
    pub history: Vec<HistoryEntry>,
}

impl SegmentTable {
    pub fn blocks_of(&self, segment: &Segment) -> &[Block] {
        &self.blocks[range(segment.blocks)]
    }

    pub fn history_of(&self, block: &Block) -> &[HistoryEntry] {
        &self.history[range(block.history)]
    }

    /// Returns the sum of the segments' sizes, which PyTorch calls *reserved*.
    pub fn reserved_bytes(&self) -> u64 {
        self.sum(|segment| segment.size_bytes)
    }

    /// Returns the sum of the rounded sizes of blocks in use, which PyTorch calls *allocated*.
    pub fn allocated_bytes(&self) -> u64 {
        self.sum(|segment| segment.allocated_bytes)
    }

    /// Returns the allocated bytes plus those of pending frees, which PyTorch calls *active*.
    pub fn active_bytes(&self) -> u64 {
        self.sum(|segment| segment.active_bytes)
    }

    /// Sums with saturation, because a damaged file may claim more than 2^64 bytes.
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
