//! Follows what is allocated, and keeps what each stack had at the highest moment.
//!
//! That moment is only known at the end, so each stack notes what it has whenever it changes after a new peak: a peak
//! that is over gets a number, and a stack whose note is of an older one still had then what it has now.
//! Each change takes constant time, and logarithmic time for mapped memory.

use super::record::{Amount, Change};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Memory of each stack.
#[derive(Debug, Default)]
pub(super) struct Heap {
    blocks: HashMap<u64, Block>,
    /// Mapped memory by its first address: the address behind it, and its stack. No two of them overlap.
    maps: BTreeMap<u64, (u64, u32)>,
    usages: Vec<Usage>,
    bytes: u64,
    peak_bytes: u64,
    /// Number of peaks that are over.
    peaks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: u64,
    stack: u32,
}

/// Memory of one stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// What is allocated now, at the end of the capture.
    pub(super) live: Amount,
    /// What was allocated at the peak.
    pub(super) peak: Amount,
    /// What has been allocated in all.
    pub(super) all: Amount,
    /// Number of the peak that `peak` belongs to.
    noted: u64,
}

impl Heap {
    /// Makes a change that a stack caused.
    pub(super) fn change(&mut self, change: Change, stack: u32) {
        match change {
            Change::Allocate { addr, bytes } => self.allocate(addr, bytes, stack),
            Change::Free { addr } => self.free(addr),
            Change::Map { addr, bytes } => {
                let end = addr.saturating_add(bytes);
                // The system replaces what was mapped there.
                self.unmap(addr, end);
                self.add(stack, end - addr);
                if end > addr {
                    self.maps.insert(addr, (end, stack));
                }
            }
            Change::Unmap { addr, bytes } => self.unmap(addr, addr.saturating_add(bytes)),
        }
    }

    /// Returns the memory that is allocated.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the highest memory until now.
    pub(super) fn peak_bytes(&self) -> u64 {
        self.peak_bytes.max(self.bytes)
    }

    /// Returns the usage of each stack at the end.
    pub(super) fn finish(mut self) -> Vec<Usage> {
        self.end_peak();
        for usage in &mut self.usages {
            usage.note(self.peaks);
        }
        self.usages
    }

    fn allocate(&mut self, addr: u64, bytes: u64, stack: u32) {
        // Memory that is allocated anew has been freed, though nothing recorded it.
        self.free(addr);
        self.add(stack, bytes);
        self.blocks.insert(addr, Block { bytes, stack });
    }

    fn free(&mut self, addr: u64) {
        if let Some(Block { bytes, stack }) = self.blocks.remove(&addr) {
            self.remove(stack, bytes, 1);
        }
    }

    /// Ends what is mapped in a range, which may leave parts of it at both ends.
    fn unmap(&mut self, start: u64, end: u64) {
        let before = self.maps.range(..start).next_back().map(|(&map, _)| map);
        before.into_iter().for_each(|map| self.cut(map, start, end));
        while let Some((&map, _)) = self.maps.range(start..end).next() {
            self.cut(map, start, end);
        }
    }

    /// Takes a range out of the mapped memory that begins at `map`.
    fn cut(&mut self, map: u64, start: u64, end: u64) {
        let Some(&(map_end, stack)) = self.maps.get(&map).filter(|(map_end, _)| *map_end > start) else { return };
        self.maps.remove(&map);
        let parts = [(map, start.max(map)), (end.min(map_end), map_end)];
        let kept = parts.iter().filter(|(from, to)| from < to);
        self.maps.extend(kept.clone().map(|&(from, to)| (from, (to, stack))));
        let bytes = map_end.min(end) - map.max(start);
        match kept.count() {
            2 => {
                self.remove(stack, bytes, 0);
                self.usage(stack).live.count += 1;
            }
            parts => self.remove(stack, bytes, 1 - parts as u64),
        }
    }

    fn add(&mut self, stack: u32, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        let usage = self.usage(stack);
        let more = Amount { bytes, count: 1 };
        (usage.live, usage.all) = (usage.live.and(more), usage.all.and(more));
    }

    fn remove(&mut self, stack: u32, bytes: u64, count: u64) {
        if bytes > 0 {
            self.end_peak();
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        let live = &mut self.usage(stack).live;
        *live = Amount { bytes: live.bytes.saturating_sub(bytes), count: live.count.saturating_sub(count) };
    }

    /// Notes that the memory is about to fall, or that it will not change any more.
    fn end_peak(&mut self) {
        if self.bytes >= self.peak_bytes {
            self.peak_bytes = self.bytes;
            self.peaks += 1;
        }
    }

    /// Returns the usage of a stack that is about to change.
    fn usage(&mut self, stack: u32) -> &mut Usage {
        let position = stack as usize;
        if self.usages.len() <= position {
            self.usages.resize(position + 1, Usage::default());
        }
        let usage = &mut self.usages[position];
        usage.note(self.peaks);
        usage
    }
}

impl Usage {
    /// Notes what was allocated at the last peak, if that is not noted yet.
    fn note(&mut self, peaks: u64) {
        if self.noted != peaks {
            self.peak = self.live;
            self.noted = peaks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stack_has_what_it_had_at_the_peak() {
        let mut heap = Heap::default();
        let block = |addr, bytes| Change::Allocate { addr, bytes };
        heap.change(block(1, 100), 0);
        heap.change(Change::Map { addr: 4096, bytes: 300 }, 1);
        heap.change(Change::Unmap { addr: 4096 + 100, bytes: 100 }, 0);
        heap.change(block(2, 200), 2);
        heap.change(Change::Free { addr: 1 }, 0);
        // 400 again, of which the first stack has nothing, and one block that is never reached again.
        heap.change(block(3, 50), 2);
        heap.change(Change::Free { addr: 3 }, 0);
        heap.change(Change::Unmap { addr: 0, bytes: 1 << 40 }, 0);
        assert_eq!((heap.bytes(), heap.peak_bytes()), (200, 500));
        let usages = heap.finish();
        let bytes: Vec<_> = usages.iter().map(|usage| (usage.peak.bytes, usage.live.bytes, usage.all.bytes)).collect();
        assert_eq!(bytes, [(100, 0, 100), (200, 0, 300), (200, 200, 250)]);
        assert_eq!(usages[1].peak.count, 2, "the parts on both sides of what was unmapped");
    }
}
