//! Reconstructs the segments and blocks of a device at the end of a part.
//!
//! Segments are obtained by undoing the later segment events from the final state on; blocks are the allocations that
//! were live at that time.
//! The rounded size of a block is known only if the block is still in the file's final state.
//! For other blocks it is the request rounded up to 512 bytes, and the gaps between blocks are free.

use super::part::{Keeper, Open};
use crate::base::ShortSort;
use crate::trace::{
    Action, Block, BlockState, ContextTable, Event, OlderBlock, PartOf, Segment, SegmentTable, StackId, cut,
};
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// Granularity of block sizes in the allocator.
const ROUNDING_BYTES: u64 = 512;

/// Allocation that is live at the end of the part.
#[derive(Clone, Copy, Debug)]
struct Alive {
    block: Block,
    /// Requested size, if the allocation is from before the part.
    older_bytes: Option<u64>,
}

/// Replaces the device's segments and blocks by those at the end of the part.
///
/// Returns the facts about the rest of the trace.
pub(super) fn unwind(keeper: Keeper, table: &mut SegmentTable, contexts: &ContextTable) -> PartOf {
    let part = keeper.request.events.clone();
    let total_events = keeper.request.rows.len() as u32;
    let mut older = Vec::new();
    let superseded = keeper.superseded.iter().map(|&(addr, open)| alive(addr, open, part.start));
    if part.end == total_events {
        let mut outside = at_last(&keeper, table, &mut older);
        outside.extend(superseded);
        add_outside(table, outside, &mut older);
    } else {
        let at_end = keeper.at_end.iter().flatten().map(|&(addr, open)| alive(addr, open, part.start));
        let later = keeper
            .freed_later
            .iter()
            .map(|&(addr, size_bytes)| alive(addr, Open { born: 0, size_bytes, stack: StackId::NONE }, u32::MAX));
        let untouched = |block: &&Block| block.state != BlockState::Inactive && !keeper.used.contains_key(&block.addr);
        let untouched = table.blocks.iter().filter(untouched).map(|&block| {
            let older_bytes = Some(block.live_bytes());
            Alive { block: Block { history: (0, 0), ..block }, older_bytes }
        });
        let all: Vec<Alive> = at_end.chain(later).chain(untouched).chain(superseded).collect();
        let mut held: BTreeMap<u64, Segment> = table.segments.iter().map(|segment| (segment.addr, *segment)).collect();
        for event in keeper.segments_later.iter().rev() {
            undo(&mut held, event, contexts);
        }
        *table = SegmentTable::default();
        let outside = lay(table, held.into_values(), all, &mut older);
        add_outside(table, outside, &mut older);
    }
    let Keeper { request, freed, .. } = keeper;
    PartOf { first_event: part.start, total_events, freeing: request.freeing, older, freed }
}

fn alive(addr: u64, Open { born, size_bytes, stack }: Open, start: u32) -> Alive {
    let block = Block {
        addr,
        size_bytes: size_bytes.max(1).next_multiple_of(ROUNDING_BYTES),
        requested_bytes: Some(size_bytes),
        state: BlockState::Allocated,
        stack,
        history: (0, 0),
    };
    Alive { block, older_bytes: (born < start).then_some(size_bytes) }
}

/// Finds the older blocks of a part that ends with the trace; returns the older allocations that have no block.
fn at_last(keeper: &Keeper, table: &mut SegmentTable, older: &mut Vec<OlderBlock>) -> Vec<Alive> {
    let start = keeper.request.events.start;
    let mut told = HashSet::new();
    for (index, block) in table.blocks.iter_mut().enumerate() {
        if block.state == BlockState::Inactive {
            continue;
        }
        let size_bytes = match keeper.used.get(&block.addr) {
            None => block.live_bytes(),
            Some(Some(open)) if open.born < start && told.insert(block.addr) => {
                if !block.stack.has_frames() {
                    block.stack = open.stack;
                }
                open.size_bytes
            }
            Some(_) => continue,
        };
        older.push(OlderBlock { block: index as u32, size_bytes });
    }
    let open = keeper.open().into_iter().filter(|(addr, open)| open.born < start && !told.contains(addr));
    open.map(|(addr, open)| alive(addr, open, start)).collect()
}

/// Places blocks into segments; returns those that lie outside all segments or overlap another block.
fn lay(
    table: &mut SegmentTable,
    segments: impl Iterator<Item = Segment>,
    mut alive: Vec<Alive>,
    older: &mut Vec<OlderBlock>,
) -> Vec<Alive> {
    alive.short_sort_by_key(|alive| (alive.block.addr, alive.older_bytes.is_none()));
    let mut alive = alive.into_iter().peekable();
    let mut outside = Vec::new();
    for segment in segments {
        let first = table.blocks.len() as u32;
        let end = segment.addr.saturating_add(segment.size_bytes);
        let mut at = segment.addr;
        while let Some(mut next) = alive.next_if(|next| next.block.addr < end) {
            if next.block.addr < at {
                outside.push(next);
                continue;
            }
            free_block(table, at, next.block.addr);
            let room = alive.peek().map_or(end, |after| after.block.addr).clamp(next.block.addr, end);
            next.block.size_bytes = next.block.size_bytes.min(room - next.block.addr);
            at = next.block.addr + next.block.size_bytes;
            push(table, next, older);
        }
        free_block(table, at, end);
        let blocks = (first, table.blocks.len() as u32);
        let active = table.blocks[first as usize..].iter().filter(|block| block.state != BlockState::Inactive);
        let (size_bytes, requested) =
            active.fold((0, 0_u64), |sum, block| (sum.0 + block.size_bytes, sum.1.saturating_add(block.live_bytes())));
        let (allocated_bytes, active_bytes) = (size_bytes, size_bytes);
        let requested_bytes = segment.requested_bytes.map(|_| requested);
        table.segments.push(Segment { allocated_bytes, active_bytes, requested_bytes, blocks, ..segment });
    }
    outside.extend(alive);
    outside
}

fn push(table: &mut SegmentTable, alive: Alive, older: &mut Vec<OlderBlock>) {
    let block = table.blocks.len() as u32;
    older.extend(alive.older_bytes.map(|size_bytes| OlderBlock { block, size_bytes }));
    let history = table.history.len() as u32;
    table.blocks.push(Block { history: (history, history), ..alive.block });
}

fn free_block(table: &mut SegmentTable, start: u64, end: u64) {
    if start < end {
        let (size_bytes, requested_bytes) = (end - start, Some(0));
        table.blocks.push(Block { addr: start, size_bytes, requested_bytes, ..Block::default() });
    }
}

/// Adds older allocations that no segment has space for, because the file lacks segments or frees.
///
/// They still count as live, in a segment of 0 bytes.
fn add_outside(table: &mut SegmentTable, outside: Vec<Alive>, older: &mut Vec<OlderBlock>) {
    let outside: Vec<Alive> = outside.into_iter().filter(|alive| alive.older_bytes.is_some()).collect();
    let Some(first) = outside.first() else { return };
    let start = table.blocks.len() as u32;
    let addr = first.block.addr;
    outside.into_iter().for_each(|alive| push(table, alive, older));
    let blocks = (start, table.blocks.len() as u32);
    table.segments.push(Segment { addr, requested_bytes: Some(0), blocks, ..Segment::default() });
}

fn undo(held: &mut BTreeMap<u64, Segment>, event: &Event, contexts: &ContextTable) {
    match event.action {
        Action::SegmentAlloc => drop(held.remove(&event.addr)),
        Action::SegmentFree => drop(held.insert(event.addr, Segment::of_event(event, contexts, false))),
        Action::SegmentMap => {
            let range = event.addr..event.addr.saturating_add(event.size_bytes);
            cut(held, range, |segment| (&mut segment.addr, &mut segment.size_bytes));
        }
        Action::SegmentUnmap => join(held, Segment::of_event(event, contexts, true)),
        _ => {}
    }
}

/// Adds a mapped range, merged with the adjacent expandable segments of its stream.
fn join(held: &mut BTreeMap<u64, Segment>, range: Segment) {
    let mut joined = range;
    let is_kin = |other: &Segment| other.is_expandable == Some(true) && other.stream == range.stream;
    let before = held.range(..range.addr).next_back().map(|(_, &before)| before);
    if let Some(before) = before.filter(|before| is_kin(before) && before.addr + before.size_bytes == range.addr) {
        joined = Segment { size_bytes: before.size_bytes.saturating_add(range.size_bytes), ..before };
    }
    let end = range.addr.saturating_add(range.size_bytes);
    if let Some(after) = held.get(&end).copied().filter(is_kin) {
        held.remove(&end);
        joined = Segment { addr: joined.addr, size_bytes: joined.size_bytes.saturating_add(after.size_bytes), ..after };
    }
    held.insert(joined.addr, joined);
}
