//! Which moments a selection is about.

use crate::analysis::{AllocationId, Allocations, Timeline};
use std::ops::Range;

/// The moments that a selection is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// What is alive at a moment.
    At(u32),
    /// What is alive at some moment of a range, or a part of that.
    Within {
        /// The moments; one past the last event's moment is the end of the trace.
        moments: Range<u32>,
        /// Which of the allocations alive there.
        part: Part,
    },
}

/// Which of the allocations that are alive at some moment of a range.
///
/// An allocation is *born in* a range where its `alloc` event is at a moment of it, and *dies in* it where its free is;
/// memory from before the trace is born in no range.
/// [`Survived`](Self::Survived), [`BornAndKept`](Self::BornAndKept), [`BornAndDied`](Self::BornAndDied) and those that
/// died without being born in the range are all there are, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of them.
    #[default]
    Any,
    /// Those born in the range.
    Born,
    /// Those that die in the range.
    Died,
    /// Those that are older than the range and outlive it.
    Survived,
    /// Those born in the range that die in it.
    BornAndDied,
    /// Those born in the range that outlive it: what it left behind.
    BornAndKept,
}

crate::names!(Part {
    Any => "any",
    Born => "born",
    Died => "died",
    Survived => "survived",
    BornAndDied => "born-and-died",
    BornAndKept => "born-and-kept",
});

impl Part {
    fn has(self, is_born: bool, is_dying: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Born => is_born,
            Self::Died => is_dying,
            Self::Survived => !is_born && !is_dying,
            Self::BornAndDied => is_born && is_dying,
            Self::BornAndKept => is_born && !is_dying,
        }
    }
}

impl Scope {
    /// The whole of a trace.
    pub fn all(timeline: &Timeline) -> Self {
        Self::Within { moments: 0..timeline.events() + 1, part: Part::Any }
    }

    /// The allocations of the scope that pass a test, in the order of their handles.
    pub(super) fn select(&self, timeline: &Timeline, is_meant: impl Fn(AllocationId) -> bool) -> Vec<AllocationId> {
        let allocations = &timeline.allocations;
        let meant = |id: &AllocationId| is_meant(*id);
        match self {
            Self::At(moment) => allocations.alive_at(*moment).map(|(id, _)| id).filter(meant).collect(),
            Self::Within { moments, .. } if moments.is_empty() => Vec::new(),
            Self::Within { moments, part } => within(allocations, moments.clone(), *part).filter(meant).collect(),
        }
    }

    /// The number of its allocations; where all parts count it takes no look at any of them.
    pub fn count(&self, timeline: &Timeline) -> usize {
        let allocations = &timeline.allocations;
        let alive_in = |start: u32, last: u32| allocations.born_by(last) as usize - allocations.died_by(start);
        match self {
            Self::At(moment) => alive_in(*moment, *moment),
            Self::Within { moments, .. } if moments.is_empty() => 0,
            Self::Within { moments, part: Part::Any } => alive_in(moments.start, moments.end - 1),
            Self::Within { moments, part } => within(allocations, moments.clone(), *part).count(),
        }
    }

    /// The moments that weights are clipped to: all of the trace for a single moment.
    pub(super) fn window(&self, timeline: &Timeline) -> Range<u32> {
        let end = timeline.events() + 1;
        match self {
            Self::At(_) => 0..end,
            Self::Within { moments, .. } => moments.start.min(end)..moments.end.min(end),
        }
    }
}

fn within(allocations: &Allocations, moments: Range<u32>, part: Part) -> impl Iterator<Item = AllocationId> {
    let initial = allocations.initial_count() as u32;
    let rows = 0..allocations.born_by(moments.end - 1);
    let is_in = move |&row: &u32| {
        let died = allocations.died[row as usize];
        let is_born = row >= initial && allocations.born_at(row) >= moments.start;
        died > moments.start && part.has(is_born, died < moments.end)
    };
    rows.filter(is_in).map(AllocationId)
}
