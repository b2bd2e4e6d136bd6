//! Records the course of memory over a replay, in as many columns as can be displayed.
//!
//! ```text
//! events    segment_alloc 20, alloc 3 | free 3, alloc 5 | segment_alloc 30, alloc 30
//! columns   reserved 20, live 3       | 20, 5           | 50, 35                        the highest of each column
//! ```

use super::steps::Step;
use crate::allocator::{Allocator, Driver, EventKind};
use serde::{Deserialize, Serialize};

/// Highest values and counts of a range of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayColumn {
    pub live_bytes: u64,
    /// Rounded bytes of blocks in use.
    pub allocated_bytes: u64,
    pub reserved_bytes: u64,
    /// Bytes of segments that no block uses: the cache, and free pieces between blocks.
    pub unused_bytes: u64,
    /// Bytes of segments that no tensor asked for, measured between requests: unused bytes, and what rounding adds.
    pub beyond_live_bytes: u64,
    /// Number of driver calls, each of which stalls the program.
    pub calls: u64,
    /// Number of requests for which the whole cache was given back.
    pub retries: u64,
    /// Number of garbage collections that gave memory back.
    pub collections: u64,
    pub ooms: u64,
}

pub(super) struct CourseRecorder {
    columns: Vec<ReplayColumn>,
    events: u64,
    wanted: u64,
    /// Current values, and the counts of the current column.
    now: ReplayColumn,
    /// Numbers of retries, collections and failures before the step.
    counted: [u64; 3],
}

impl CourseRecorder {
    /// Begins with the state of an allocator before the first step.
    pub(super) fn new<D: Driver>(allocator: &Allocator<D>, events: usize, columns: usize) -> Self {
        let mut now = ReplayColumn::default();
        now.measure(allocator);
        now.live_bytes = allocator.counters().live_bytes.now;
        now.reserved_bytes = allocator.counters().reserved_bytes.now;
        let wanted = columns.clamp(1, events.max(1)) as u64;
        Self { columns: Vec::new(), events: events as u64, wanted, now, counted: counted(allocator) }
    }

    pub(super) fn see<D: Driver>(&mut self, step: &Step, allocator: &Allocator<D>) {
        self.fill_up_to((step.event as u64 * self.wanted / self.events.max(1)).min(self.wanted - 1));
        for event in allocator.events() {
            let now = &mut self.now;
            match event.kind {
                EventKind::Alloc => now.live_bytes = now.live_bytes.saturating_add(event.size_bytes),
                EventKind::FreeCompleted => now.live_bytes = now.live_bytes.saturating_sub(event.size_bytes),
                EventKind::SegmentAlloc | EventKind::SegmentMap => {
                    now.reserved_bytes = now.reserved_bytes.saturating_add(event.size_bytes);
                    now.calls += 1;
                }
                EventKind::SegmentFree | EventKind::SegmentUnmap => {
                    now.reserved_bytes = now.reserved_bytes.saturating_sub(event.size_bytes);
                    now.calls += 1;
                }
                EventKind::FreeRequested | EventKind::Oom => {}
            }
            self.keep();
        }
        self.now.measure(allocator);
        let ([retries, collections, ooms], before) = (counted(allocator), self.counted);
        self.now.retries += retries - before[0];
        self.now.collections += collections - before[1];
        self.now.ooms += ooms - before[2];
        self.counted = [retries, collections, ooms];
        self.keep();
    }

    pub(super) fn finish(mut self) -> Vec<ReplayColumn> {
        self.fill_up_to(self.wanted - 1);
        self.columns
    }

    /// Goes on to a column; the columns in between keep the current values.
    fn fill_up_to(&mut self, column: u64) {
        while self.columns.len() as u64 <= column {
            (self.now.calls, self.now.retries, self.now.collections, self.now.ooms) = (0, 0, 0, 0);
            self.columns.push(self.now);
        }
    }

    fn keep(&mut self) {
        let Some(last) = self.columns.last_mut() else { return };
        let now = &self.now;
        *last = ReplayColumn {
            live_bytes: last.live_bytes.max(now.live_bytes),
            allocated_bytes: last.allocated_bytes.max(now.allocated_bytes),
            reserved_bytes: last.reserved_bytes.max(now.reserved_bytes),
            unused_bytes: last.unused_bytes.max(now.unused_bytes),
            beyond_live_bytes: last.beyond_live_bytes.max(now.beyond_live_bytes),
            ..*now
        };
    }
}

/// Returns the numbers of retries, collections and failures so far.
fn counted<D: Driver>(allocator: &Allocator<D>) -> [u64; 3] {
    let counters = allocator.counters();
    [counters.retries, counters.collections, counters.ooms]
}

impl ReplayColumn {
    /// Takes over what the allocator tells between two requests.
    fn measure<D: Driver>(&mut self, allocator: &Allocator<D>) {
        let counters = allocator.counters();
        self.allocated_bytes = counters.allocated_bytes.now;
        self.unused_bytes = counters.reserved_bytes.now.saturating_sub(counters.active_bytes.now);
        self.beyond_live_bytes = counters.reserved_bytes.now.saturating_sub(counters.live_bytes.now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReplayConfig, ReplayReport};
    use super::*;
    use crate::allocator::Settings;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::naive;

    fn course(sample: &Sample, columns: usize) -> (ReplayReport, Vec<ReplayColumn>) {
        sample.replayer().course(&ReplayConfig::unlimited(Settings::default()), columns)
    }

    #[test]
    fn a_column_has_the_highest_of_its_events() {
        let sample = Sample::of("alloc a 3MiB\nfree a\nalloc b 30MiB\nalloc c 5MiB\nfree b\nfree c");
        let (_, course) = course(&sample, 4);
        let mib = |bytes: u64| bytes >> 20;
        let rows = course.iter().map(|row| (mib(row.live_bytes), mib(row.reserved_bytes), row.calls));
        assert_eq!(rows.collect::<Vec<_>>(), [(3, 20, 1), (35, 50, 1), (35, 50, 0), (5, 50, 0)]);
    }

    #[test]
    fn columns_have_the_peaks_and_all_calls() {
        for seed in 0..60 {
            let sample = Sample::new(naive::random_trace(seed, 20 * seed));
            for columns in [1, 7, 400] {
                let (report, course) = course(&sample, columns);
                let highest = |value: fn(&ReplayColumn) -> u64| course.iter().map(value).max().unwrap();
                let counters = report.counters;
                assert_eq!(highest(|row| row.live_bytes), counters.live_bytes.peak, "seed {seed}");
                assert_eq!(highest(|row| row.reserved_bytes), counters.reserved_bytes.peak, "seed {seed}");
                assert_eq!(highest(|row| row.allocated_bytes), counters.allocated_bytes.peak, "seed {seed}");
                let calls = counters.segment_allocs + counters.segment_frees + counters.maps + counters.unmaps;
                assert_eq!(course.iter().map(|row| row.calls).sum::<u64>(), calls, "seed {seed}");
                let sum = |count: fn(&ReplayColumn) -> u64| course.iter().map(count).sum::<u64>();
                assert_eq!(sum(|row| row.retries), counters.retries, "seed {seed}");
                assert_eq!((sum(|row| row.collections), sum(|row| row.ooms)), (counters.collections, counters.ooms));
                assert_eq!(course.len(), columns.min(sample.device().events.len().max(1)));
            }
        }
    }
}
