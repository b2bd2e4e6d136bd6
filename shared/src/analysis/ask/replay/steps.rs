//! Derives what the program asked of the allocator from what the allocator did.
//!
//! ```text
//! events                                        steps
//! segment_alloc S, alloc a                      allocate a
//! free_requested a, free_completed a            free a
//! free_requested b, …, free_completed b         free b, used by another stream … complete b
//! segment_free S, segment_free T                empty the cache
//! segment_free S, segment_alloc T, alloc c      allocate c (the device was full), unless the stacks differ
//! oom                                           allocate, in vain
//! ```
//!
//! A free that waited for another stream is complete at its `free_completed` event.
//! If segments are given back right after that event, the allocator itself waited for it: the step that gives them back
//! comes first.

use crate::base::ShortSort;
use std::collections::VecDeque;
use std::ops::Range;

use crate::trace::{Action, Device, EventTable, PoolId, Segment, StackId, Trace};

/// Request of the program, or completion of another stream's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Index of the event that it was derived from.
    pub(super) event: usize,
    /// Driver calls before this event index belong to this step and to earlier ones.
    pub(super) until: usize,
    pub(super) kind: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    Allocate {
        addr: u64,
        size_bytes: u64,
        stream: u64,
        pool: Option<PoolId>,
    },
    /// Request that failed; the size is rounded.
    Fail {
        size_bytes: u64,
        stream: u64,
        pool: Option<PoolId>,
    },
    /// Free; that of a shared block waits for its completion.
    Free {
        addr: u64,
        is_shared: bool,
    },
    /// Completion: other streams are done with a block.
    Complete {
        addr: u64,
    },
    EmptyCache,
}

pub(super) fn steps<'a>(trace: &'a Trace, device: &'a Device) -> impl Iterator<Item = Step> + 'a {
    Reader {
        trace,
        events: &device.events,
        pools: KnownPools::of(device),
        has_completions: device.events.actions().iter().any(|action| action == Action::FreeCompleted),
        next: 0,
        calls: Calls::default(),
        completions_end: 0,
        queued: VecDeque::new(),
        waited: Vec::new(),
    }
}

struct Reader<'a> {
    trace: &'a Trace,
    events: &'a EventTable,
    pools: KnownPools,
    /// False for a filtered trace without completions, whose frees don't wait.
    has_completions: bool,
    next: usize,
    calls: Calls,
    /// Index of the first event after the current run of completions.
    completions_end: usize,
    /// Steps that come before the next event.
    queued: VecDeque<Step>,
    /// Completions that the allocator waited for during the next step.
    waited: Vec<Step>,
}

/// Driver calls that belong to no step yet.
#[derive(Clone, Copy, Default)]
struct Calls {
    /// Index of the last one that gave memory back.
    release: Option<usize>,
    /// True if a later one fetched memory.
    fetches: bool,
}

impl Iterator for Reader<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        while self.queued.is_empty() {
            let index = self.next;
            self.next += 1;
            if index < self.events.len() {
                if let Some(step) = self.read(index) {
                    return Some(step);
                }
            } else if index == self.events.len() {
                self.empty_cache();
            } else {
                return None;
            }
        }
        self.queued.pop_front()
    }
}

impl Reader<'_> {
    /// Reads the event at `index`; its step is returned, or queued behind those that come before it.
    fn read(&mut self, index: usize) -> Option<Step> {
        let action = self.events.actions().at(index);
        let kind = match action {
            Action::Alloc | Action::Oom => self.request(index, action),
            Action::FreeRequested => {
                let addr = self.events.addrs().at(index);
                let is_complete = self.completes(index + 1, addr);
                self.next += usize::from(is_complete);
                StepKind::Free { addr, is_shared: self.has_completions && !is_complete }
            }
            Action::FreeCompleted => return self.complete(index),
            Action::SegmentFree | Action::SegmentUnmap => {
                self.calls = Calls { release: Some(index), fetches: false };
                return None;
            }
            Action::SegmentAlloc | Action::SegmentMap => {
                self.calls.fetches = true;
                return None;
            }
            _ => return None,
        };
        let is_answer =
            matches!(kind, StepKind::Allocate { .. } | StepKind::Fail { .. }) && self.is_answer(index, action);
        if !is_answer {
            self.empty_cache();
        }
        self.calls = Calls::default();
        let step = Step { event: index, until: index, kind };
        if self.queued.is_empty() && self.waited.is_empty() {
            return Some(step);
        }
        self.queued.push_back(step);
        self.queued.extend(self.waited.drain(..));
        None
    }

    fn request(&self, index: usize, action: Action) -> StepKind {
        let context = self.trace.contexts.get(self.events.contexts().at(index));
        let (stream, size_bytes) = (context.stream, self.events.sizes_bytes().at(index));
        if action == Action::Oom {
            return StepKind::Fail { size_bytes, stream, pool: context.pool };
        }
        let addr = self.events.addrs().at(index);
        StepKind::Allocate { addr, size_bytes, stream, pool: context.pool.or_else(|| self.pools.at(addr, index)) }
    }

    fn completes(&self, index: usize, addr: u64) -> bool {
        self.events.actions().get(index) == Some(Action::FreeCompleted) && self.events.addrs().at(index) == addr
    }

    /// Returns the step of a completion that does not follow its free at once.
    fn complete(&mut self, index: usize) -> Option<Step> {
        let step =
            Step { event: index, until: index, kind: StepKind::Complete { addr: self.events.addrs().at(index) } };
        let actions = self.events.actions();
        if index >= self.completions_end {
            let mut after = index + 1..actions.len();
            self.completions_end =
                after.find(|&index| actions.at(index) != Action::FreeCompleted).unwrap_or(actions.len());
        }
        // The allocator waited for it if memory is given back next.
        if !actions.get(self.completions_end).is_some_and(is_release) {
            return Some(step);
        }
        self.waited.push(step);
        None
    }

    /// Queues a step that empties the cache if driver calls of no other step gave memory back.
    ///
    /// The step takes the calls up to the last one that gave memory back.
    fn empty_cache(&mut self) {
        if let Some(last) = self.calls.release.take() {
            self.queued.push_back(Step { event: last, until: last + 1, kind: StepKind::EmptyCache });
            self.queued.extend(self.waited.drain(..));
        }
    }

    /// Returns true unless memory was given back before this request for another reason than to serve it.
    ///
    /// The allocator gives memory back to serve a request if the device is full, or if it collects garbage.
    fn is_answer(&self, index: usize, action: Action) -> bool {
        let Some(release) = self.calls.release else { return true };
        let stacks = self.events.stacks();
        let (stack, own) = (stacks.at(release), stacks.at(index));
        (action == Action::Oom || self.calls.fetches)
            && (stack == own || stack == StackId::NONE || own == StackId::NONE)
    }
}

/// Private pools of the final segments, for traces whose events do not name a pool.
struct KnownPools {
    /// Addresses and pools, in the order of the addresses, with the event that fetched the segment, 0 if it is older.
    segments: Vec<(Range<u64>, PoolId, usize)>,
}

impl KnownPools {
    fn of(device: &Device) -> Self {
        let private = |segment: &Segment| {
            let pool = segment.pool.filter(|pool| *pool != PoolId::default())?;
            Some((segment.addr..segment.addr.saturating_add(segment.size_bytes), pool, 0))
        };
        let mut segments: Vec<_> = device.segments.segments.iter().filter_map(private).collect();
        segments.short_sort_by_key(|segment| segment.0.start);
        let mut pools = Self { segments };
        if pools.segments.is_empty() {
            return pools;
        }
        // The addresses of a segment may have belonged to another one before.
        let fetches = device.events.actions().iter().enumerate().filter(|(_, action)| *action == Action::SegmentAlloc);
        for (event, _) in fetches {
            if let Some(segment) = pools.find(device.events.addrs().at(event)) {
                pools.segments[segment].2 = event;
            }
        }
        pools
    }

    fn find(&self, addr: u64) -> Option<usize> {
        let before = self.segments.partition_point(|segment| segment.0.start <= addr).checked_sub(1)?;
        self.segments[before].0.contains(&addr).then_some(before)
    }

    fn at(&self, addr: u64, event: usize) -> Option<PoolId> {
        let &(_, pool, since) = &self.segments[self.find(addr)?];
        (since <= event).then_some(pool)
    }
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

pub(super) fn is_driver(action: Action) -> bool {
    is_release(action) || matches!(action, Action::SegmentAlloc | Action::SegmentMap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the steps of a trace, written as a word for the kind with the event's index (`until` for `empty`).
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
    fn requests_frees_and_late_completions_are_steps() {
        check("segment_alloc S 2MiB\nalloc a 512\nfree a\nsnapshot\nalloc b 512", "allocate 1, free 2, allocate 5");
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
