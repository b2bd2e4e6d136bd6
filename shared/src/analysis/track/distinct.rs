//! Counts the distinct stacks and frames that a trace uses.

use crate::trace::{StackId, Trace};
use hashbrown::HashSet;

/// Number of distinct stacks and frames of segments, blocks, block histories and events.
///
/// The tables of a trace may hold more: stacks of keys that are skipped, and partial stacks of lists that the file
/// writes in several pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctStacks {
    /// Distinct (name, filename, line).
    pub frames: u64,
    /// Distinct stacks with frames.
    pub stacks: u64,
}

impl DistinctStacks {
    /// Counts the stacks and frames of all devices and of host memory.
    pub fn of(trace: &Trace) -> Self {
        let mut used = vec![false; trace.stacks.len()];
        for device in trace.devices.iter().chain(&trace.host) {
            let tables = &device.segments;
            let of_tables = tables.segments.iter().map(|segment| segment.stack);
            let of_tables = of_tables.chain(tables.blocks.iter().map(|block| block.stack));
            let of_tables = of_tables.chain(tables.history.iter().map(|entry| entry.stack));
            device.events.stacks().iter().chain(of_tables).for_each(|stack| used[stack.index()] = true);
        }
        let mut frames = HashSet::new();
        let mut stacks = 0;
        for stack in trace.stacks.ids().filter(|stack: &StackId| used[stack.index()]) {
            stacks += 1;
            frames.extend(trace.stacks.frames(stack).iter().map(|&id| {
                let frame = trace.frames.get(id);
                (frame.name, frame.filename, frame.line)
            }));
        }
        Self { frames: frames.len() as u64, stacks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    #[test]
    fn only_what_is_used_counts() {
        let mut trace =
            text::parse("alloc a 1 @f<main\nalloc b 1 @g<main\nfree a\nsegment S 9\nblock b 9 @g<main").unwrap();
        let counts = DistinctStacks::of(&trace);
        assert_eq!(counts, DistinctStacks { frames: 3, stacks: 2 });
        let lone = trace.stacks.ids().next().map(|stack| trace.stacks.frames(stack)[..1].to_vec()).unwrap();
        trace.stacks.intern(&lone);
        assert_eq!(DistinctStacks::of(&trace), counts);
    }
}
