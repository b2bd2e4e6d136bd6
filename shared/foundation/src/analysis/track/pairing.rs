//! Pairs `alloc` events with the events that free them, and keeps sums of sizes within 63 bits, whatever a file has.
//!
//! Idea: one pass over the events with a map from each address to the lifetime that is open there.
//! A free at an address without an open lifetime ends a lifetime from before the trace.
//! A live block of the final state is from before the trace too if its address has neither an open lifetime nor a free
//! as its last event.
//!
//! ```text
//! event    0 free x   1 alloc a   2 alloc b   3 free a   4 free y      final blocks: b, z
//! rows     z: 0..∞    y: 0..5     x: 0..1     a: 2..4    b: 3..∞
//!          └ blocks ┘ └ unmatched frees ┘     └ by alloc event ┘
//! ```
//!
//! Cost: linear in the events; the map holds the live allocations, never more than the result has rows.

use crate::analysis::track::allocations::Allocations;
use crate::base::{PackedColumn, ShortSort, pieces};
use crate::trace::{Action, Block, BlockState, Device, PartOf};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::ops::Range;

/// Moment of death of an allocation that outlives the trace.
pub const NEVER: u32 = u32::MAX;

/// Returns the action that ends lifetimes in this device's trace.
///
/// This is `free_completed`, but a post-processed or filtered trace may contain only `free_requested`.
fn freeing_action(device: &Device) -> Action {
    if let Some(part) = &device.part {
        return part.freeing;
    }
    let completed = device.events.actions().iter().any(|action| action == Action::FreeCompleted);
    if completed { Action::FreeCompleted } else { Action::FreeRequested }
}

impl Allocations {
    /// Pairs the events of a device and adds the blocks that are older than its trace.
    ///
    /// An `alloc` at an address that is still in use starts a new lifetime and leaves the older one without an end.
    /// A matched free returns the size of its `alloc`, whatever size the free itself records.
    ///
    /// # Panics
    /// Panics if the device has 2^32 - 1 or more events or blocks.
    pub fn pair(device: &Device) -> Self {
        assert!(device.events.len() < NEVER as usize, "a device has fewer than 2^32 - 1 events");
        let limit = SizeLimit::of(device);
        let freeing = freeing_action(device);
        let (pairing, open) = Pairing::of_events(device, freeing, limit);
        let (blocks, sizes) = match &device.part {
            Some(part) => blocks_of_part(device, part),
            None => older_blocks(device, freeing, &open),
        };
        let mut allocations = pairing.finish(blocks, sizes.into_iter().map(|size_bytes| limit.cap(size_bytes)));
        allocations.rank(device.events.len());
        allocations
    }
}

#[inline(never)]
fn count_of(device: &Device, piece: Range<usize>, wanted: Action) -> usize {
    device.events.actions().range(piece).filter(|&action| action == wanted).count()
}

/// Lifetimes while the number of rows from before the trace is still unknown.
struct Pairing {
    born: Vec<u32>,
    /// Moments of death, one per birth.
    died: Vec<u32>,
    /// Sizes, one per birth.
    size_bytes: Vec<u64>,
    /// For each death the index of its birth, `NEVER` for an unmatched free.
    deaths: Vec<u32>,
    /// Moment and size of each unmatched free.
    unmatched: Vec<(u32, u64)>,
    superseded: u32,
}

impl Pairing {
    /// Processes all events and also returns the lifetimes that are open after the last one.
    fn of_events(device: &Device, freeing: Action, limit: SizeLimit) -> (Self, HashMap<u64, u32>) {
        let mut pairing = Self::with_room_for(device, freeing);
        let mut open = HashMap::new();
        for piece in pieces(device.events.len()) {
            pairing.take(device, piece, freeing, limit, &mut open);
        }
        (pairing, open)
    }

    #[inline(never)]
    fn take(
        &mut self,
        device: &Device,
        piece: Range<usize>,
        freeing: Action,
        limit: SizeLimit,
        open: &mut HashMap<u64, u32>,
    ) {
        let (events, part) = (&device.events, device.part.as_deref());
        let addrs_and_sizes = events.addrs().range(piece.clone()).zip(events.sizes_bytes().range(piece.clone()));
        let rows = events.actions().range(piece.clone()).zip(addrs_and_sizes);
        for (moment, (action, (addr, size_bytes))) in (piece.start as u32 + 1..).zip(rows) {
            if action == Action::Alloc {
                let older = open.insert(addr, self.begin(moment, limit.cap(size_bytes)));
                self.superseded += u32::from(older.is_some());
            } else if action == freeing {
                let row = open.remove(&addr);
                let earlier = part.filter(|_| row.is_none()).and_then(|part| part.freed_by(moment as usize - 1));
                self.end(moment, row, limit.cap(earlier.map_or(size_bytes, |earlier| earlier.size_bytes)));
            }
        }
    }

    fn with_room_for(device: &Device, freeing: Action) -> Self {
        let count = |wanted| pieces(device.events.len()).map(|piece| count_of(device, piece, wanted)).sum();
        let (births, deaths) = (count(Action::Alloc), count(freeing));
        Self {
            born: Vec::with_capacity(births),
            died: Vec::with_capacity(births),
            size_bytes: Vec::with_capacity(births),
            deaths: Vec::with_capacity(deaths),
            unmatched: Vec::new(),
            superseded: 0,
        }
    }

    fn begin(&mut self, moment: u32, size_bytes: u64) -> u32 {
        let row = self.born.len() as u32;
        self.born.push(moment);
        self.died.push(NEVER);
        self.size_bytes.push(size_bytes);
        row
    }

    fn end(&mut self, moment: u32, row: Option<u32>, size_bytes: u64) {
        match row {
            Some(row) => self.died[row as usize] = moment,
            None => self.unmatched.push((moment, size_bytes)),
        }
        self.deaths.push(row.unwrap_or(NEVER));
    }

    /// Inserts the rows from before the trace in front of the others.
    fn finish(self, blocks: Vec<u32>, block_sizes: impl Iterator<Item = u64>) -> Allocations {
        let Self { born, mut died, mut size_bytes, mut deaths, unmatched, superseded } = self;
        let initial = blocks.len() + unmatched.len();
        let row_count = u32::try_from(initial + born.len()).expect("a device has fewer than 2^32 allocations");
        let initial = row_count - born.len() as u32;

        let mut next_unmatched = initial;
        for row in &mut deaths {
            if *row == NEVER {
                next_unmatched -= 1;
                *row = next_unmatched;
            } else {
                *row += initial;
            }
        }
        // Reserves exactly the needed space, because these are the largest columns of the analysis.
        died.reserve_exact(initial as usize);
        size_bytes.reserve_exact(initial as usize);
        let last_freed_first = || unmatched.iter().rev();
        died.splice(0..0, blocks.iter().map(|_| NEVER).chain(last_freed_first().map(|free| free.0)));
        size_bytes.splice(0..0, block_sizes.chain(last_freed_first().map(|free| free.1)));
        Allocations { blocks, initial, born, died, size_bytes, deaths, superseded, ..Allocations::default() }
    }
}

/// Returns the blocks that are older than a part, the largest first, and their requested sizes.
fn blocks_of_part(device: &Device, part: &PartOf) -> (Vec<u32>, Vec<u64>) {
    let mut older = part.older.clone();
    older.short_sort_by_key(|older| (Reverse(older.size_bytes), device.segments.blocks[older.block as usize].addr));
    older.iter().map(|older| (older.block, older.size_bytes)).unzip()
}

/// Returns the live blocks that belong to no event of the trace, the largest first, and their sizes.
///
/// A block whose address was freed last is not one of them: its free is recorded and only waits for completion.
fn older_blocks(device: &Device, freeing: Action, open: &HashMap<u64, u32>) -> (Vec<u32>, Vec<u64>) {
    let blocks = &device.segments.blocks;
    let is_candidate = |block: &Block| block.state != BlockState::Inactive && !open.contains_key(&block.addr);
    let mut addrs: HashSet<u64> = blocks.iter().filter(|block| is_candidate(block)).map(|block| block.addr).collect();
    if !addrs.is_empty() {
        let rows = device.events.actions().iter().zip(device.events.addrs().iter());
        rows.filter(|&(action, _)| action == freeing).for_each(|(_, addr)| {
            addrs.remove(&addr);
        });
    }
    let older = |&block: &u32| {
        let block = &blocks[block as usize];
        is_candidate(block) && addrs.contains(&block.addr)
    };
    let mut older: Vec<u32> = (0..blocks.len() as u32).filter(older).collect();
    let live_bytes = |block: u32| blocks[block as usize].live_bytes();
    older.short_sort_by_key(|&block| (Reverse(live_bytes(block)), blocks[block as usize].addr));
    let sizes = older.iter().map(|&block| live_bytes(block)).collect();
    (older, sizes)
}

/// Largest size with which one event, block or segment of a device counts.
///
/// Byte counts go up and down along a trace, so a saturated sum would not come down again to its earlier value.
/// A file whose sizes add up to more than 2^63 cannot come from a real machine; its sizes are capped, so that all later
/// code may add and subtract without overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit(u64);

impl SizeLimit {
    /// Returns the limit for a device, which caps nothing unless the sum of all its sizes exceeds 2^63 - 1.
    pub fn of(device: &Device) -> Self {
        let blocks = device.segments.blocks.iter().map(|block| block.live_bytes());
        let segments = device.segments.segments.iter().map(|segment| segment.size_bytes);
        let sizes = device.events.sizes_bytes();
        let events = pieces(sizes.len()).map(|piece| sum_of(sizes, piece));
        let sum = events.chain(blocks).chain(segments).fold(0, u64::saturating_add);
        if i64::try_from(sum).is_ok() {
            return Self(sum);
        }
        let count = device.events.len() + device.segments.blocks.len() + device.segments.segments.len();
        Self(i64::MAX as u64 / count as u64)
    }

    pub fn cap(self, size_bytes: u64) -> u64 {
        size_bytes.min(self.0)
    }
}

/// Returns the saturated sum of some sizes.
#[inline(never)]
fn sum_of(sizes: &PackedColumn<u64>, piece: Range<usize>) -> u64 {
    sizes.range(piece).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::track::allocations::{Allocation, Origin};
    use crate::trace::text;

    /// Checks the rows of a trace, written as `born..died size origin`.
    #[track_caller]
    fn check(trace: &str, rows: &[&str]) {
        let trace = text::parse(trace).unwrap();
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let row = |id| {
            let Allocation { born, died, size_bytes, origin, .. } = allocations.get(id, device);
            let died = if died == NEVER { "∞".to_owned() } else { died.to_string() };
            let origin = match origin {
                Origin::Event(event) => format!("event {event}"),
                Origin::UnmatchedFree(event) => format!("free {event}"),
                Origin::Block(block) => format!("block {block}"),
            };
            format!("{born}..{died} {size_bytes} {origin}")
        };
        assert_eq!(allocations.ids().map(row).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn the_worked_example() {
        check(
            "
            free_completed x 1
            alloc a 2
            alloc b 3
            free_completed a
            free_completed y 4
            segment S 1KiB
            block b 512
            block z 512 requested=5
            ",
            &["0..∞ 5 block 1", "0..5 4 free 4", "0..1 1 free 0", "2..4 2 event 1", "3..∞ 3 event 2"],
        );
    }

    #[test]
    fn lifetimes_begin_and_end_by_these_rules() {
        // A lifetime ends when its free completes.
        check("alloc a 1\nfree_requested a\nsnapshot\nfree_completed a", &["1..4 1 event 0"]);
        // Without completed frees the request ends it.
        check("alloc a 1\nfree_requested a\nsegment S 1\nblock a 1 pending", &["1..2 1 event 0"]);
        // A pending block is alive.
        check(
            "alloc a 1\nfree_requested a\nalloc b 1\nfree b\nsegment S 1\nblock a 1 pending\nblock c 8 inactive",
            &["1..∞ 1 event 0", "3..5 1 event 2"],
        );
        // An alloc on a used address leaves the older one open.
        check("alloc a 1\nalloc a 2\nfree a", &["1..∞ 1 event 0", "2..4 2 event 1"]);
        // Every unmatched free counts.
        check("free_completed a 1\nfree_completed a 2", &["0..2 2 free 1", "0..1 1 free 0"]);
        // The largest of the oldest is at the bottom.
        check("segment S 9\nblock a 1\nblock b 4\nblock c 4", &["0..∞ 4 block 1", "0..∞ 4 block 2", "0..∞ 1 block 0"]);
    }

    #[test]
    fn sizes_that_no_machine_has_are_capped() {
        let trace = text::parse("alloc 0x1 17179869183GiB\nalloc 0x2 17179869183GiB").unwrap();
        let sizes = Allocations::pair(&trace.devices[0]).size_bytes;
        assert!(sizes.iter().all(|&size| size == i64::MAX as u64 / 2), "{sizes:?}");
    }
}
