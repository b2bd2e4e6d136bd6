//! Simulates a small caching allocator: best fit, splitting and merging, without a memory limit.
//!
//! It follows PyTorch's rules for rounding, segment sizes and splitting (`c10/cuda/CUDACachingAllocator.cpp`), so that
//! the final segments look real and every event can be replayed to them.

use std::collections::{BTreeMap, BTreeSet};

const MIN_BLOCK: u64 = 512;
const SMALL: u64 = 1 << 20;
const SMALL_SEGMENT: u64 = 2 << 20;
const LARGE_SEGMENT: u64 = 20 << 20;
const BIG: u64 = 10 << 20;
const FIRST_ADDR: u64 = 0x7f00_0000_0000;

/// Captured stack, which PyTorch shares between all records of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Traceback {
    /// Identity of the capture.
    pub(super) id: u64,
    /// Number of the captured stack.
    pub(super) stack: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Inactive,
    Allocated(Traceback),
    PendingFree(Traceback),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) size: u64,
    /// Size of the last request; stale if the block is inactive.
    pub(super) requested: u64,
    pub(super) state: State,
    segment: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) addr: u64,
    pub(super) size: u64,
    pub(super) traceback: Traceback,
}

impl Segment {
    /// Returns true for a segment that serves requests of up to 1 MiB.
    pub(super) fn is_small(&self) -> bool {
        self.size == SMALL_SEGMENT
    }
}

#[derive(Debug, Default)]
pub(super) struct Allocator {
    segments: Vec<Segment>,
    blocks: BTreeMap<u64, Block>,
    /// Free blocks by size and address, for the small and the large pool.
    free: [BTreeSet<(u64, u64)>; 2],
}

impl Allocator {
    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(super) fn blocks_of(&self, segment: &Segment) -> impl Iterator<Item = (u64, &Block)> {
        self.blocks.range(segment.addr..segment.addr + segment.size).map(|(addr, block)| (*addr, block))
    }

    /// Returns the address of the free block that serves a request.
    pub(super) fn find(&self, requested: u64) -> Option<u64> {
        let size = round(requested);
        self.free[pool(size)].range((size, 0)..).next().map(|(_, addr)| *addr)
    }

    /// Returns address and size of the new segment that a request needs.
    pub(super) fn next_segment(&self, requested: u64) -> (u64, u64) {
        let addr =
            self.segments.last().map_or(FIRST_ADDR, |last| last.addr + last.size.next_multiple_of(SMALL_SEGMENT));
        let size = match round(requested) {
            size if size <= SMALL => SMALL_SEGMENT,
            size if size < BIG => LARGE_SEGMENT,
            size => size.next_multiple_of(SMALL_SEGMENT),
        };
        (addr, size)
    }

    /// Adds the next segment, which consists of one free block.
    pub(super) fn add_segment(&mut self, requested: u64, traceback: Traceback) {
        let (addr, size) = self.next_segment(requested);
        self.segments.push(Segment { addr, size, traceback });
        self.insert_free(addr, Block { size, requested: 0, state: State::Inactive, segment: addr });
    }

    /// Allocates the front of a free block.
    pub(super) fn take(&mut self, addr: u64, requested: u64, traceback: Traceback) {
        let mut block = self.remove_free(addr);
        let size = round(requested);
        let rest = block.size - size;
        if rest >= MIN_BLOCK && (size <= SMALL || rest > SMALL) {
            self.insert_free(addr + size, Block { size: rest, requested: 0, ..block });
            block.size = size;
        }
        block.requested = requested;
        block.state = State::Allocated(traceback);
        self.blocks.insert(addr, block);
    }

    /// Marks a block as freed by the user but not yet complete.
    pub(super) fn request_free(&mut self, addr: u64) {
        let block = self.blocks.get_mut(&addr).expect("a block that was handed out");
        if let State::Allocated(traceback) = block.state {
            block.state = State::PendingFree(traceback);
        }
    }

    /// Completes a free and merges the block with its free neighbours.
    pub(super) fn complete_free(&mut self, addr: u64) {
        let mut block = self.blocks.remove(&addr).expect("a block that was handed out");
        block.state = State::Inactive;
        let mut start = addr;
        if let Some((&next, _)) = self.blocks.range(addr..).next().filter(|(_, next)| mergeable(next, &block)) {
            block.size += self.remove_free(next).size;
        }
        if let Some((&before, _)) = self.blocks.range(..addr).next_back().filter(|(_, other)| mergeable(other, &block))
        {
            block.size += self.remove_free(before).size;
            start = before;
        }
        self.insert_free(start, block);
    }

    fn insert_free(&mut self, addr: u64, block: Block) {
        self.free[self.pool_of(block.segment)].insert((block.size, addr));
        self.blocks.insert(addr, block);
    }

    fn remove_free(&mut self, addr: u64) -> Block {
        let block = self.blocks.remove(&addr).expect("a free block");
        self.free[self.pool_of(block.segment)].remove(&(block.size, addr));
        block
    }

    fn pool_of(&self, segment: u64) -> usize {
        let index = self.segments.partition_point(|other| other.addr < segment);
        usize::from(!self.segments[index].is_small())
    }
}

fn mergeable(other: &Block, block: &Block) -> bool {
    other.state == State::Inactive && other.segment == block.segment
}

fn pool(size: u64) -> usize {
    usize::from(size > SMALL)
}

fn round(requested: u64) -> u64 {
    requested.next_multiple_of(MIN_BLOCK).max(MIN_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACEBACK: Traceback = Traceback { id: 0, stack: 0 };

    fn alloc(allocator: &mut Allocator, requested: u64) -> u64 {
        let addr = allocator.find(requested).unwrap_or_else(|| {
            allocator.add_segment(requested, TRACEBACK);
            allocator.find(requested).unwrap()
        });
        allocator.take(addr, requested, TRACEBACK);
        addr
    }

    #[test]
    fn three_and_twelve_mebibytes_share_a_segment() {
        let mut allocator = Allocator::default();
        let three = alloc(&mut allocator, 3 << 20);
        let twelve = alloc(&mut allocator, 12 << 20);
        assert_eq!(twelve, three + (3 << 20));
        alloc(&mut allocator, 9 << 20);
        assert_eq!(allocator.segments().len(), 2);
    }

    #[test]
    fn freed_neighbours_merge() {
        let mut allocator = Allocator::default();
        let addrs = [100, 200, 300].map(|requested| alloc(&mut allocator, requested));
        for addr in [addrs[0], addrs[2], addrs[1]] {
            allocator.request_free(addr);
            allocator.complete_free(addr);
        }
        let blocks: Vec<_> = allocator.blocks_of(&allocator.segments()[0]).map(|(_, block)| block.size).collect();
        assert_eq!(blocks, [SMALL_SEGMENT]);
    }
}
