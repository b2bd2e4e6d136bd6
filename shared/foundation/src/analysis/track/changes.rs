//! Lists the changes of live and reserved bytes along a trace, and counts the distinct stacks and frames that it uses.

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::curve::{Changes, ListedChanges};
use crate::analysis::track::pairing::SizeLimit;
use crate::base::pieces;
use crate::trace::{Action, Device, StackId, Trace};
use hashbrown::HashSet;
use std::ops::Range;

/// Live bytes: births add, deaths subtract.
impl Changes for Allocations {
    fn initial_bytes(&self) -> i64 {
        self.size_bytes[..self.initial as usize].iter().sum::<u64>() as i64
    }

    fn for_each(&self, moments: Range<u32>, mut visit: impl FnMut(u32, i64)) {
        if moments.is_empty() {
            return;
        }
        let (before, last) = (moments.start.saturating_sub(1), moments.end - 1);
        let mut births = self.born_by(before)..self.born_by(last);
        let mut deaths = self.deaths[self.died_by(before)..self.died_by(last)].iter().copied().peekable();
        loop {
            // Births and deaths are distinct events, so no two of them share a moment.
            let death = deaths.peek().map(|&row| (self.died[row as usize], row));
            let birth = births.clone().next().map(|row| (self.born_at(row), row));
            match (birth, death) {
                (Some((moment, row)), other) if other.is_none_or(|(died, _)| moment < died) => {
                    visit(moment, self.size_bytes[row as usize] as i64);
                    births.next();
                }
                (_, Some((moment, row))) => {
                    visit(moment, -(self.size_bytes[row as usize] as i64));
                    deaths.next();
                }
                _ => return,
            }
        }
    }
}

/// Collects the changes of reserved bytes of a device: allocated and mapped segments add, freed and unmapped ones subtract.
///
/// The initial bytes are wound back from its final segments.
/// In an inconsistent file the bytes may be negative at some moments. A file that lists no segments although its events
/// leave some, as converters write it, is read from the beginning instead: from no segments on.
pub fn segment_changes(device: &Device) -> ListedChanges {
    let limit = SizeLimit::of(device);
    let signed = |size_bytes| limit.cap(size_bytes) as i64;
    let final_bytes: i64 = device.segments.segments.iter().map(|segment| signed(segment.size_bytes)).sum();
    let mut changes = Vec::new();
    pieces(device.events.len()).for_each(|piece| add_changes(device, piece, limit, &mut changes));
    let sum: i64 = changes.iter().map(|(_, delta)| delta).sum();
    let lists_none = device.segments.segments.is_empty() && sum > 0;
    ListedChanges { initial_bytes: if lists_none { 0 } else { final_bytes - sum }, changes }
}

/// Adds the changes of reserved bytes of a range of events.
#[inline(never)]
fn add_changes(device: &Device, piece: Range<usize>, limit: SizeLimit, changes: &mut Vec<(u32, i64)>) {
    let delta = |(event, action)| {
        let size_bytes = || limit.cap(device.events.sizes_bytes().at(event)) as i64;
        let delta = match action {
            Action::SegmentAlloc | Action::SegmentMap => size_bytes(),
            Action::SegmentFree | Action::SegmentUnmap => -size_bytes(),
            _ => return None,
        };
        Some((event as u32 + 1, delta))
    };
    changes.extend(piece.clone().zip(device.events.actions().range(piece)).filter_map(delta));
}

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
