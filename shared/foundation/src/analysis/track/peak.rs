//! Sums the live bytes of a moment by the stack that allocated them.

use crate::analysis::track::allocations::Allocations;
use crate::base::ShortSort;
use crate::trace::{Device, StackId};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// Live bytes of one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackBytes {
    /// Stack of the allocations; see [`Allocations::allocation_stack`].
    pub stack: StackId,
    /// Sum of the requested sizes.
    pub bytes: u64,
    pub count: u64,
    /// Part of `bytes` that was allocated before the trace.
    pub initial_bytes: u64,
}

/// Returns the live bytes of each stack at a moment, most bytes first.
///
/// All allocations without frames form one group, [`StackId::NONE`]. It includes initial memory that the trace frees,
/// because its allocating stack is unknown.
pub fn live_by_stack(device: &Device, allocations: &Allocations, moment: u32) -> Vec<StackBytes> {
    let mut by_stack: HashMap<StackId, StackBytes> = HashMap::new();
    for (id, size_bytes) in allocations.alive_at(moment) {
        let stack = Some(allocations.allocation_stack(id, device)).filter(|stack| stack.has_frames());
        let stack = stack.unwrap_or(StackId::NONE);
        let row = by_stack.entry(stack).or_insert(StackBytes { stack, bytes: 0, count: 0, initial_bytes: 0 });
        row.bytes += size_bytes;
        row.count += 1;
        row.initial_bytes += if allocations.is_initial(id) { size_bytes } else { 0 };
    }
    let mut rows: Vec<_> = by_stack.into_values().collect();
    rows.short_sort_by_key(|row| (Reverse(row.bytes), row.stack));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Trace, text};

    /// Checks the rows at a moment, written as `inner frame: bytes count initial`.
    #[track_caller]
    fn check(trace: &str, moment: u32, rows: &[&str]) {
        let trace = text::parse(trace).unwrap();
        let device = &trace.devices[0];
        let row = |row: &StackBytes| {
            format!("{}: {} {} {}", inner_frame(&trace, row.stack), row.bytes, row.count, row.initial_bytes)
        };
        let found = live_by_stack(device, &Allocations::pair(device), moment);
        assert_eq!(found.iter().map(row).collect::<Vec<_>>(), rows);
    }

    fn inner_frame(trace: &Trace, stack: StackId) -> &str {
        trace.stacks.frames(stack).first().map_or("-", |&frame| trace.strings.get(trace.frames.get(frame).name))
    }

    const TRACE: &str = "
        alloc a 10 @f<main
        alloc b 30 @g<main
        alloc c 25 @f<main
        free_completed old 7 @del
        free_completed b @del
        segment S 1KiB
        block param 512 requested=500 @init
    ";

    #[test]
    fn holders_are_ordered_by_their_live_bytes() {
        // The largest holder comes first.
        check(TRACE, 3, &["init: 500 1 500", "f: 35 2 0", "g: 30 1 0", "-: 7 1 7"]);
        // Only what is alive counts.
        check(TRACE, 1, &["init: 500 1 500", "f: 10 1 0", "-: 7 1 7"]);
        check(TRACE, 5, &["init: 500 1 500", "f: 35 2 0"]);
    }
}
