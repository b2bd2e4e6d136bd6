//! Defines the moments that a selection covers.

use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::timeline::Timeline;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    At(u32),
    /// Allocations that are alive at any moment of a range, or a part of them.
    Within {
        /// Range of moments; the moment after that of the last event is the end of the trace.
        moments: Range<u32>,
        part: Part,
    },
}

/// Part of the allocations that are alive at any moment of a range.
///
/// An allocation is *born in* a range if the moment of its `alloc` event lies in it, and *dies in* it if that of its
/// free does; memory from before the trace is born in no range.
///
/// [`Survived`](Self::Survived), [`BornAndKept`](Self::BornAndKept), [`BornAndDied`](Self::BornAndDied) and those that
/// died in the range but were born before it are disjoint, and together they are all allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    #[default]
    Any,
    Born,
    Died,
    /// Those that are older than the range and outlive it.
    Survived,
    BornAndDied,
    /// Those that are born in the range and outlive it: memory that the range leaves behind.
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
    pub fn all(timeline: &Timeline) -> Self {
        Self::Within { moments: 0..timeline.events() + 1, part: Part::Any }
    }

    /// Returns the allocations of the scope that pass a test, in the order of their handles.
    pub(super) fn select(&self, timeline: &Timeline, is_meant: impl Fn(AllocationId) -> bool) -> Vec<AllocationId> {
        let allocations = &timeline.allocations;
        let meant = |id: &AllocationId| is_meant(*id);
        match self {
            Self::At(moment) => allocations.alive_at(*moment).map(|(id, _)| id).filter(meant).collect(),
            Self::Within { moments, .. } if moments.is_empty() => Vec::new(),
            Self::Within { moments, part } => within(allocations, moments.clone(), *part).filter(meant).collect(),
        }
    }

    /// Returns the number of allocations; for a moment and for [`Part::Any`] it examines none of them.
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

    /// Returns the moments to which lifetimes are clipped for weights; for a single moment that is the whole trace.
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
