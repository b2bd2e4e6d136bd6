//! Lifetimes, paired from events and wound back from the final blocks.

use crate::trace::{Device, StackId};

/// A handle to an allocation of the [`Allocations`] that minted it.
///
/// The allocations from before the trace come first, then those of the trace in the order of their `alloc` events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub(crate) u32);

impl AllocationId {
    /// The position in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The handle with this position.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 allocations"))
    }
}

/// Where an allocation was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its `alloc` event, by index.
    Event(usize),
    /// It is from before the trace and was freed in it: the freeing event, by index.
    UnmatchedFree(usize),
    /// It is from before the trace and alive at its end: the block, by index in the segment table.
    Block(usize),
}

/// One lifetime.
///
/// A *moment* is a position between events: moment 0 is before the first event, moment `n` is after event `n - 1`.
/// An allocation is alive at the moments `born..died`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The first moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// The first moment at which it is not alive any more; `u32::MAX` if it outlives the trace.
    pub died: u32,
    /// The requested size.
    pub size_bytes: u64,
    /// The address.
    pub addr: u64,
    /// The stack of the allocation; of the free where only that is known.
    pub stack: StackId,
    /// Where it was first seen.
    pub origin: Origin,
}

/// All lifetimes of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocations {}

impl Allocations {
    /// Pairs the events of a device and adds the blocks that are older than its trace.
    pub fn pair(_device: &Device) -> Self {
        Self {}
    }

    /// The number of allocations, those from before the trace included.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
