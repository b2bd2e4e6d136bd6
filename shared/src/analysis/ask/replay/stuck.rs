//! Classifies the memory that is free when a request fails by the reason why it does not help.
//!
//! The failed request has made the allocator give back what it could, so the remaining free memory lies next to blocks
//! in use.
//!
//! ```text
//! 40 asked for   |AAAA|....20....|B|..10..|  other stream |C|...50...|  private pool |D|...60...|
//! stuck          pieces 30, longest 20       other streams 50           private pools 60
//! ```

use std::ops::ControlFlow;

use super::run::{ReplayConfig, Replayer, Runner};
use super::steps::StepKind;
use crate::allocator::{BlockUse, Settings, VirtualCard};

/// Free bytes that could not serve a request, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// Bytes in the request's own pool and stream, in ranges that are too short.
    pub pieces_bytes: u64,
    pub longest_bytes: u64,
    pub other_streams_bytes: u64,
    /// Bytes in other private pools, or in the default pool if the request is of a private one.
    pub other_pools_bytes: u64,
    /// Bytes in segments for the other size class: requests of up to 1 MiB, or larger ones.
    pub other_class_bytes: u64,
}

impl Replayer<'_> {
    /// Returns the free memory that did not help when the request of an event failed.
    ///
    /// Returns `None` if the replay serves the request.
    pub fn stuck_at(&self, config: &ReplayConfig, event: usize) -> Option<Stuck> {
        let mut stuck = None;
        self.run(self.runner(config), None, |step, runner, failed| {
            if let (Some(_), true) = (failed, step.event == event) {
                stuck = Stuck::of(runner, &step.kind);
            }
            if step.event >= event { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        stuck
    }
}

impl Stuck {
    fn of(runner: &Runner<VirtualCard>, request: &StepKind) -> Option<Self> {
        let &(StepKind::Allocate { size_bytes, stream, pool, .. } | StepKind::Fail { size_bytes, stream, pool }) =
            request
        else {
            return None;
        };
        let (pool, is_small) = (runner.known_pool(pool), Settings::is_small(size_bytes));
        let mut stuck = Self::default();
        for segment in runner.allocator.segments() {
            let free = || segment.blocks.iter().filter(|block| block.state == BlockUse::Free);
            let sum: u64 = free().map(|block| block.size_bytes).sum();
            if Some(segment.pool) != pool {
                stuck.other_pools_bytes += sum;
            } else if segment.stream != stream {
                stuck.other_streams_bytes += sum;
            } else if segment.is_small != is_small {
                stuck.other_class_bytes += sum;
            } else {
                stuck.pieces_bytes += sum;
                stuck.longest_bytes = free().map(|block| block.size_bytes).fold(stuck.longest_bytes, u64::max);
            }
        }
        Some(stuck)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    const MIB: u64 = 1 << 20;

    /// Returns what did not help the last request on a card.
    fn stuck(source: &str, capacity_bytes: u64) -> Option<Stuck> {
        let sample = Sample::of(source);
        let config = ReplayConfig { capacity_bytes, ..ReplayConfig::unlimited(Settings::default()) };
        sample.replayer().stuck_at(&config, sample.device().events.len() - 1)
    }

    #[test]
    fn free_memory_is_told_apart_by_what_keeps_it() {
        // Each request of 10 MiB or more has a segment of its own; of the two small ones, one stays.
        let source = "
            alloc a 20MiB
            alloc b 10MiB
            alloc c 20MiB stream=7
            alloc d 10MiB stream=7
            alloc s 512
            alloc t 512
            free s
            free a
            free c
            oom 60MiB free=0
        ";
        let found = stuck(source, 70 * MIB).unwrap();
        // Whole free segments went back to the driver: only memory next to a block in use is stuck.
        assert_eq!((found.pieces_bytes, found.other_streams_bytes, found.other_pools_bytes), (0, 0, 0));
        assert_eq!(found.other_class_bytes, 2 * MIB - 512);
        assert_eq!(stuck(source, ReplayConfig::NO_LIMIT_BYTES), None);
    }

    #[test]
    fn pieces_and_other_streams_are_counted() {
        let source = "alloc a 6MiB\nalloc b 6MiB\nfree a\nalloc c 6MiB stream=7\noom 18MiB free=0";
        let found = stuck(source, 50 * MIB).unwrap();
        assert_eq!((found.pieces_bytes, found.longest_bytes, found.other_streams_bytes), (14 * MIB, 8 * MIB, 14 * MIB));
    }
}
