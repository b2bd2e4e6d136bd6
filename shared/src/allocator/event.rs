//! What the allocator did, as its memory history would record it.

use super::PoolKey;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// A block was handed out; the size is the requested one.
    Alloc,
    /// The user let go of a block.
    FreeRequested,
    /// The block is back in its pool.
    FreeCompleted,
    /// A segment was fetched from the driver.
    SegmentAlloc,
    /// A segment went back to the driver.
    SegmentFree,
    /// Pages were mapped into an expandable segment.
    SegmentMap,
    /// Pages of an expandable segment went back to the driver.
    SegmentUnmap,
    /// A request failed; the size is the rounded one, the address is the card's free bytes.
    Oom,
}

impl EventKind {
    /// The name in snapshot files.
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

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The address, see [`EventKind`].
    pub addr: u64,
    /// The size, see [`EventKind`].
    pub size_bytes: u64,
    /// The raw stream handle.
    pub stream: u64,
    /// The pool.
    pub pool: PoolKey,
}
