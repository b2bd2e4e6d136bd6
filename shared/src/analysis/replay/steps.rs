//! What the program asked of the allocator, told from what the allocator did.
//!
//! ```text
//! events                                        steps
//! segment_alloc S, alloc a                      allocate a
//! free_requested a, free_completed a            free a
//! free_requested b, …, free_completed b         free b, used by another stream … complete b
//! segment_free S, segment_free T                empty the cache
//! segment_free S, segment_alloc T, alloc c      allocate c (the card was full), unless the stacks differ
//! oom                                           allocate, in vain
//! ```
//!
//! A free that waited for another stream is complete when its event says so.
//! Where it comes together with segments that are given back, the allocator itself waited: that step comes first.

use std::collections::VecDeque;
use std::ops::Range;

use crate::trace::{Action, Device, Event, PoolId, Segment, StackId, Trace};

/// Something that the program asked for, or that a stream finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The event that it was told from.
    pub(super) event: usize,
    /// Events of the driver before this index belong to this step and the ones before it.
    pub(super) until: usize,
    pub(super) kind: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// A request that was served.
    Allocate { addr: u64, size_bytes: u64, stream: u64, pool: Option<PoolId> },
    /// A request that failed; the size is rounded.
    Fail { size_bytes: u64, stream: u64, pool: Option<PoolId> },
    /// A free; one that is shared waits for its completion.
    Free { addr: u64, is_shared: bool },
    /// Other streams are done with a block.
    Complete { addr: u64 },
    /// The program gives the cache back.
    EmptyCache,
}

/// The steps of a device's trace in their order.
pub(super) fn steps<'a>(trace: &'a Trace, device: &'a Device) -> impl Iterator<Item = Step> + 'a {
    let has_completions = device.events.actions().iter().any(|action| action == Action::FreeCompleted);
    let pools = KnownPools::of(device);
    let (queued, waited) = (VecDeque::new(), Vec::new());
    let mut reader = Reader { trace, device, pools, has_completions, next: 0, group: 0, queued, waited };
    std::iter::from_fn(move || reader.step())
}

struct Reader<'a> {
    trace: &'a Trace,
    device: &'a Device,
    pools: KnownPools,
    /// A trace that was filtered may have none.
    has_completions: bool,
    next: usize,
    /// Where the events of the driver began that no step has taken yet.
    group: usize,
    /// What comes before the next event.
    queued: VecDeque<Step>,
    /// Completions that the allocator waited for in its next step.
    waited: Vec<Step>,
}

impl Reader<'_> {
    fn step(&mut self) -> Option<Step> {
        let end = self.device.events.len();
        while self.queued.is_empty() && self.next <= end {
            if self.next < end {
                self.read(self.next, self.device.events.at(self.next));
            } else {
                self.empty_cache(end);
            }
            self.next += 1;
        }
        self.queued.pop_front()
    }

    fn read(&mut self, index: usize, event: Event) {
        let context = self.trace.contexts.get(event.context);
        let (addr, stream, size_bytes) = (event.addr, context.stream, event.size_bytes);
        let kind = match event.action {
            Action::Alloc => {
                let pool = context.pool.or_else(|| self.pools.at(addr, index));
                StepKind::Allocate { addr, size_bytes, stream, pool }
            }
            Action::Oom => StepKind::Fail { size_bytes, stream, pool: context.pool },
            Action::FreeRequested => {
                StepKind::Free { addr, is_shared: self.has_completions && !self.completes(index, addr) }
            }
            Action::FreeCompleted if !self.is_of_free(index) => StepKind::Complete { addr },
            _ => return,
        };
        let step = Step { event: index, until: index, kind };
        match kind {
            StepKind::Complete { .. } if self.is_waited_for(index) => return self.waited.push(step),
            StepKind::Complete { .. } => return self.queued.push_back(step),
            StepKind::Allocate { .. } | StepKind::Fail { .. } if self.is_answer(index, event) => {}
            _ => self.empty_cache(index),
        }
        self.group = index + 1;
        self.queued.push_back(step);
        self.queued.extend(self.waited.drain(..));
    }

    /// Whether the very next event completes the free.
    fn completes(&self, index: usize, addr: u64) -> bool {
        let events = &self.device.events;
        index + 1 < events.len() && {
            let next = events.at(index + 1);
            (next.action, next.addr) == (Action::FreeCompleted, addr)
        }
    }

    /// Whether a completion is that of the free just before.
    fn is_of_free(&self, index: usize) -> bool {
        let events = &self.device.events;
        index > 0 && {
            let before = events.at(index - 1);
            (before.action, before.addr) == (Action::FreeRequested, events.addrs().at(index))
        }
    }

    /// Whether the allocator waited for this completion to give memory back.
    fn is_waited_for(&self, index: usize) -> bool {
        let actions = self.device.events.actions();
        let mut after = (index + 1..actions.len()).map(|next| actions.at(next));
        after.find(|action| *action != Action::FreeCompleted).is_some_and(is_release)
    }

    /// Emptying the cache, if the events of the driver before `end` gave memory back; it takes those up to the last.
    fn empty_cache(&mut self, end: usize) {
        let actions = self.device.events.actions();
        if let Some(last) = (self.group..end).rev().find(|&index| is_release(actions.at(index))) {
            self.group = last + 1;
            self.queued.push_back(Step { event: last, until: last + 1, kind: StepKind::EmptyCache });
            self.queued.extend(self.waited.drain(..));
        }
    }

    /// Whether memory was given back to serve this request: the card was full, or garbage was collected.
    fn is_answer(&self, index: usize, request: Event) -> bool {
        let events = &self.device.events;
        let group = || (self.group..index).filter(|&index| is_driver(events.actions().at(index)));
        let Some(release) = group().rev().find(|&index| is_release(events.actions().at(index))) else { return true };
        let fetches = request.action == Action::Oom || group().any(|index| index > release);
        let stack = events.stacks().at(release);
        fetches && (stack == request.stack || stack == StackId::NONE || request.stack == StackId::NONE)
    }
}

/// The private pools of the final segments, for traces whose events do not name a pool.
#[derive(Debug)]
struct KnownPools {
    /// In the order of their addresses.
    segments: Vec<PrivateSegment>,
}

#[derive(Debug)]
struct PrivateSegment {
    range: Range<u64>,
    /// The event that fetched it, 0 where it is older than the trace.
    since: usize,
    pool: PoolId,
}

impl KnownPools {
    fn of(device: &Device) -> Self {
        let private = |segment: &Segment| {
            let pool = segment.pool.filter(|pool| *pool != PoolId::default())?;
            let range = segment.addr..segment.addr.saturating_add(segment.size_bytes);
            Some(PrivateSegment { range, since: 0, pool })
        };
        let mut segments: Vec<_> = device.segments.segments.iter().filter_map(private).collect();
        segments.sort_unstable_by_key(|segment| segment.range.start);
        let mut pools = Self { segments };
        if !pools.segments.is_empty() {
            pools.find_beginnings(device);
        }
        pools
    }

    /// An address may have belonged to another segment before.
    fn find_beginnings(&mut self, device: &Device) {
        let events = &device.events;
        for index in 0..events.len() {
            let is_fetch = events.actions().at(index) == Action::SegmentAlloc;
            if let Some(segment) = self.find(events.addrs().at(index)).filter(|_| is_fetch) {
                self.segments[segment].since = index;
            }
        }
    }

    fn find(&self, addr: u64) -> Option<usize> {
        let before = self.segments.partition_point(|segment| segment.range.start <= addr).checked_sub(1)?;
        self.segments[before].range.contains(&addr).then_some(before)
    }

    fn at(&self, addr: u64, event: usize) -> Option<PoolId> {
        let segment = &self.segments[self.find(addr)?];
        (segment.since <= event).then_some(segment.pool)
    }
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

/// Whether an action is a call of the driver.
pub(super) fn is_driver(action: Action) -> bool {
    is_release(action) || matches!(action, Action::SegmentAlloc | Action::SegmentMap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the steps of a trace, written as the first letter of the kind with the event's index.
    #[track_caller]
    fn check(trace: &str, expected: &str) {
        let trace = text::parse(trace).unwrap();
        let word = |step: Step| match step.kind {
            StepKind::Allocate { .. } => format!("allocate {}", step.event),
            StepKind::Fail { .. } => format!("fail {}", step.event),
            StepKind::Free { is_shared: false, .. } => format!("free {}", step.event),
            StepKind::Free { is_shared: true, .. } => format!("share {}", step.event),
            StepKind::Complete { .. } => format!("complete {}", step.event),
            StepKind::EmptyCache => format!("empty {}", step.until),
        };
        let found: Vec<_> = steps(&trace, &trace.devices[0]).map(word).collect();
        assert_eq!(found.join(", "), expected);
    }

    #[test]
    fn requests_and_frees_are_steps() {
        check("segment_alloc S 2MiB\nalloc a 512\nfree a\nsnapshot\nalloc b 512", "allocate 1, free 2, allocate 5");
    }

    #[test]
    fn a_late_completion_is_a_step() {
        check(
            "alloc a 512\nfree_requested a\nalloc b 512\nfree_completed a\nalloc c 512",
            "allocate 0, share 1, allocate 2, complete 3, allocate 4",
        );
    }

    #[test]
    fn what_the_allocator_waited_for_is_none() {
        check(
            "alloc a 512\nfree_requested a\nfree b 1\nfree_completed a\nsegment_free S 2MiB",
            "allocate 0, share 1, free 2, empty 6, complete 4",
        );
    }

    #[test]
    fn a_full_card_is_told_from_an_emptied_cache() {
        check("segment_free S 2MiB @f\nsegment_alloc T 4MiB @f\nalloc a 4MiB @f", "allocate 2");
        check("segment_free S 2MiB @clear\nsegment_alloc T 4MiB @f\nalloc a 4MiB @f", "empty 1, allocate 2");
        check("segment_free S 2MiB\nalloc a 512", "empty 1, allocate 1");
        check("segment_free S 2MiB\noom 4MiB free=1MiB", "fail 1");
        check("segment_free S 2MiB\nfree a 1", "empty 1, free 1");
        check("alloc a 1\nsegment_unmap S 2MiB", "allocate 0, empty 2");
    }

    #[test]
    fn a_filtered_trace_has_no_pending_frees() {
        check("alloc a 1\nfree_requested a\nalloc b 1", "allocate 0, free 1, allocate 2");
        check("alloc a 1\nfree_completed a", "allocate 0, complete 1");
    }
}
