//! Events of the allocator, as PyTorch's memory history would record them.

use super::PoolKey;

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
    /// A segment was freed.
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
