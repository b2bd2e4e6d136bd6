//! What is known of a trace beside the part of it that is open.

use super::{Action, StackId};

/// Says that the events of a device are a part of a longer trace, and what the rest of it tells.
///
/// The segments and blocks of such a device are those at the end of the part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartOf {
    /// The number of events before the part.
    pub first_event: u32,
    /// The number of events of the whole trace.
    pub total_events: u32,
    /// The action that ends lifetimes in the whole trace.
    pub freeing: Action,
    /// The allocations from before the part that outlive it.
    pub older: Vec<OlderBlock>,
    /// The allocations from before the part that it frees and whose `alloc` is in the whole trace, by event.
    pub freed: Vec<FreedEarlier>,
}

/// An allocation from before a part that outlives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderBlock {
    /// Its block, by index in the segment table.
    pub block: u32,
    /// The requested size.
    pub size_bytes: u64,
}

/// An allocation from before a part that is freed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreedEarlier {
    /// The event that frees it, by index in the part.
    pub event: u32,
    /// The requested size.
    pub size_bytes: u64,
    /// The stack of the allocation.
    pub stack: StackId,
}

impl PartOf {
    /// The allocation that an event of the part frees, if it is from before the part and its `alloc` is known.
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
