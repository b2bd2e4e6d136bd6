//! The state of an allocator: its blocks and segments, and the check that they agree with its counters.

use super::block::{Block, BlockId, BlockUse, Event, PoolKey};
use super::core::Allocator;
use super::counters::Counters;
use super::driver::Driver;
use super::free_list::FreeKey;
use crate::base::ShortSort;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockState {
    pub addr: u64,
    /// Rounded size.
    pub size_bytes: u64,
    /// Unrounded request; stale on free blocks.
    pub requested_bytes: u64,
    pub state: BlockUse,
}

/// A segment, or one mapped range of an expandable segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentState {
    pub addr: u64,
    pub size_bytes: u64,
    pub stream: u64,
    pub pool: PoolKey,
    pub is_small: bool,
    pub is_expandable: bool,
    /// Blocks that tile the segment, in the order of their addresses.
    pub blocks: Vec<BlockState>,
}

impl<D: Driver> Allocator<D> {
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the events since [`clear_events`](Self::clear_events).
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn clear_events(&mut self) {
        self.events.clear();
    }

    pub fn addr_of(&self, block: BlockId) -> u64 {
        self.blocks[block].addr
    }

    pub fn driver_mut(&mut self) -> &mut D {
        &mut self.driver
    }

    /// Returns all segments in the order of their addresses, as a snapshot has them.
    pub fn segments(&self) -> Vec<SegmentState> {
        let is_head = |block: &Block| {
            block.state != BlockUse::Unmapped
                && block.prev.is_none_or(|prev| self.blocks[prev].state == BlockUse::Unmapped)
        };
        let heads = self.blocks.iter().filter(|(_, block)| is_head(block));
        let mut segments: Vec<_> = heads.map(|(id, _)| self.segment(id)).collect();
        segments.short_sort_by_key(|segment| segment.addr);
        segments
    }

    fn segment(&self, head: BlockId) -> SegmentState {
        let mut blocks = Vec::new();
        let mut next = Some(head);
        while let Some(block) = next.map(|id| &self.blocks[id]).filter(|block| block.state != BlockUse::Unmapped) {
            let &Block { addr, size_bytes, requested_bytes, state, .. } = block;
            blocks.push(BlockState { addr, size_bytes, requested_bytes, state });
            next = block.next;
        }
        let head = &self.blocks[head];
        SegmentState {
            addr: head.addr,
            size_bytes: blocks.iter().map(|block| block.size_bytes).sum(),
            stream: head.stream,
            pool: head.pool.key(),
            is_small: head.pool.is_small(),
            is_expandable: head.reservation.is_some(),
            blocks,
        }
    }

    /// Checks every invariant: links, tiling, pools and sums agree.
    ///
    /// # Panics
    /// Panics on the first invariant that does not hold, and names it.
    pub fn check(&self) {
        let mut free = 0;
        for (id, block) in self.blocks.iter() {
            assert!(block.size_bytes > 0, "a block has bytes");
            if let Some(next) = block.next {
                let next = &self.blocks[next];
                assert_eq!(next.prev, Some(id), "neighbours know each other");
                assert_eq!(next.addr, block.end(), "blocks tile their segment");
                assert_eq!((next.pool, next.stream), (block.pool, block.stream), "a segment has one pool and stream");
                assert!(!block.is_available() || next.state != block.state, "free neighbours are merged");
            }
            let of_stream = self.half(block.pool).of(block.stream);
            match block.state {
                BlockUse::Free => {
                    let key = FreeKey::of(id, block);
                    assert!(of_stream.is_some_and(|free| free.mapped.contains(&key)), "a free block is in its pool");
                    free += 1;
                }
                BlockUse::Unmapped => {
                    let key = (block.addr, id);
                    assert!(of_stream.is_some_and(|free| free.unmapped.contains(&key)), "unmapped addresses are known");
                    assert!(block.reservation.is_some(), "only expandable segments have unmapped addresses");
                    free += 1;
                }
                BlockUse::PendingFree => {
                    assert!(self.pending.iter().any(|row| row.1 == id), "a pending free is waited for")
                }
                BlockUse::Allocated => {}
            }
        }
        let halves = self.pools.iter().flat_map(|pool| [pool.half(true), pool.half(false)]);
        let in_pools: usize = halves.map(|half| half.mapped().count() + half.unmapped().count()).sum();
        assert_eq!(in_pools, free, "a pool has only blocks that live");
        self.check_sums();
    }

    fn check_sums(&self) {
        let sum = |states: &[BlockUse], bytes: fn(&Block) -> u64| -> u64 {
            self.blocks.iter().filter(|(_, block)| states.contains(&block.state)).map(|(_, block)| bytes(block)).sum()
        };
        use BlockUse::{Allocated, Free, PendingFree};
        let Counters { live_bytes, allocated_bytes, active_bytes, reserved_bytes, .. } = self.counters;
        assert_eq!(live_bytes.now, sum(&[Allocated, PendingFree], |block| block.requested_bytes), "live bytes");
        assert_eq!(allocated_bytes.now, sum(&[Allocated], |block| block.size_bytes), "allocated bytes");
        assert_eq!(active_bytes.now, sum(&[Allocated, PendingFree], |block| block.size_bytes), "active bytes");
        assert_eq!(
            reserved_bytes.now,
            sum(&[Allocated, PendingFree, Free], |block| block.size_bytes),
            "reserved bytes"
        );
        for gauge in [live_bytes, allocated_bytes, active_bytes, reserved_bytes] {
            assert!(gauge.now <= gauge.peak, "a peak is the highest value");
        }
    }
}
