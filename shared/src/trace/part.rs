//! Facts about the rest of a trace of which only a part is open.

use super::{Action, StackId};

/// Facts about the whole trace that the events of a device are a part of.
///
/// The segments and blocks of such a device are those at the end of the part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartOf {
    /// Number of events before the part.
    pub first_event: u32,
    /// Number of events in the whole trace.
    pub total_events: u32,
    /// Action that ends lifetimes in the whole trace.
    pub freeing: Action,
    /// Allocations from before the part that outlive it.
    pub older: Vec<OlderBlock>,
    /// Allocations from before the part that it frees and whose `alloc` is in the whole trace, by ascending event.
    pub freed: Vec<FreedEarlier>,
}

/// Allocation from before a part that outlives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderBlock {
    /// Index of its block in the segment table.
    pub block: u32,
    /// Requested size.
    pub size_bytes: u64,
}

/// Allocation from before a part that is freed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreedEarlier {
    /// Index in the part of the event that frees it.
    pub event: u32,
    /// Requested size.
    pub size_bytes: u64,
    /// Stack of the allocation.
    pub stack: StackId,
}

impl PartOf {
    /// Returns the allocation from before the part that an event frees, if its `alloc` is known.
    pub fn freed_by(&self, event: usize) -> Option<&FreedEarlier> {
        let at = self.freed.binary_search_by_key(&event, |freed| freed.event as usize).ok()?;
        self.freed.get(at)
    }

    /// Panics unless all handles and positions are below the given numbers.
    pub(super) fn check(&self, events: usize, blocks: usize, stacks: usize) {
        let Self { first_event, total_events, freeing: _, older, freed } = self;
        assert!(*first_event as usize + events <= *total_events as usize, "a part is within its trace");
        assert!(older.iter().all(|older| (older.block as usize) < blocks), "block of an older allocation");
        assert!(freed.is_sorted_by(|a, b| a.event < b.event), "frees ascend");
        assert!(freed.iter().all(|freed| (freed.event as usize) < events), "event of a free");
        assert!(freed.iter().all(|freed| freed.stack.index() < stacks), "stack handle of a freed allocation");
    }
}
