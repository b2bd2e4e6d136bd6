//! Holds a device with everything that was computed for it, and what the engine keeps between questions.

use super::allocations::cache::Table;
use frontend::ask::{AreaBy, FlameSource, FlameTree, Kind, KindFacts};
use shared::analysis::{
    AllocationId, Areas, Axis, BatchScale, CallTree, Calls, Category, Members, RankFigures, SegmentHistory, Span,
    Studied, Study, Sweep, Timeline, spans,
};
use shared::trace::{Device, Trace};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Results for a device, computed at first use.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Annotated spans, which every hover needs.
    spans: OnceCell<Vec<Span>>,
    studied: OnceCell<Studied>,
    pub(super) categories: OnceCell<Vec<Category>>,
    pub(super) areas: [OnceCell<Areas>; AreaBy::ALL.len()],
    /// Figures for the comparison with other ranks.
    pub(super) figures: OnceCell<RankFigures>,
    /// Segments over the whole trace.
    pub(super) history: OnceCell<SegmentHistory>,
    /// Most recent table, because scrolling asks for many pages of the same one.
    pub(super) table: RefCell<Option<Table>>,
    /// Most recent kind, which pictures, totals and steps ask for again and again.
    pub(super) kind: RefCell<Option<(Kind, Rc<Selected>)>>,
    /// Most recent sweep over settings.
    pub(super) sweep: RefCell<Option<Running>>,
}

/// Device with everything that was computed for it.
#[derive(Clone, Copy)]
pub(super) struct Ready<'a> {
    pub(super) trace: &'a Trace,
    pub(super) device: &'a Device,
    pub(super) timeline: &'a Timeline,
    pub(super) kept: &'a Kept,
    pub(super) flames: &'a FlameCache,
}

impl<'a> Ready<'a> {
    pub(super) fn spans(self) -> &'a [Span] {
        self.kept.spans.get_or_init(|| spans(self.trace, self.device))
    }

    /// Returns the analysis results of the device; the first call takes a while.
    pub(super) fn studied(self) -> &'a Studied {
        self.kept.studied.get_or_init(|| Study::new(self.trace, self.device, self.timeline).into())
    }

    /// Returns the study of the device, restored from its stored results.
    pub(super) fn study(self) -> Study<'a> {
        let Self { trace, device, timeline, .. } = self;
        Study::again(trace, device, timeline, self.studied().clone())
    }

    /// Returns the allocation at a position, `None` if the device has none there.
    pub(super) fn id(self, position: u32) -> Option<AllocationId> {
        let is_there = (position as usize) < self.timeline.allocations.len();
        is_there.then(|| AllocationId::from_index(position as usize))
    }

    pub(super) fn is_alive(self, id: AllocationId, moment: u32) -> bool {
        let row = self.timeline.allocations.get(id, self.device);
        (row.born..row.died).contains(&moment)
    }

    /// Returns the time of a moment in microseconds since the first event.
    pub(super) fn time_us(&self, moment: u32) -> Option<u64> {
        let has_times = self.timeline.has_times();
        has_times.then(|| self.timeline.x_of_moment(self.device, Axis::Time, moment) as u64)
    }
}

#[derive(Debug)]
pub(super) struct Selected {
    pub(super) members: Members,
    /// Facts about them, apart from numbers.
    pub(super) facts: KindFacts,
}

/// Number of trees that are stored, as many as the page shows at once: a sandwich adds two to the graph.
pub(super) const KEPT_TREES: usize = 3;

/// Most recent calls and trees, because zooming and searching ask for the same ones again.
#[derive(Debug, Default)]
pub(crate) struct FlameCache {
    /// With the index of their device.
    pub(super) calls: RefCell<Option<(i64, FlameSource, Rc<Calls>)>>,
    pub(super) trees: RefCell<Vec<(i64, FlameTree, Rc<CallTree>)>>,
}

#[derive(Debug)]
pub(crate) struct Running {
    pub(super) sweep: Sweep,
    pub(super) scale: Option<BatchScale>,
}
