//! Holds a device with everything that was computed for it, and what the engine keeps between questions.

use super::allocations::cache::TableCache;
use frontend::ask::{AreaBy, FlameSource, FlameTree, Kind, NameMark};
use shared::analysis::{
    Areas, Axis, BatchScale, CallTree, Calls, Category, GroupKey, Members, RankFigures, SegmentHistory, Span, Studied,
    Study, Sweep, Timeline, spans,
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
    pub(super) areas: AreaCache,
    /// Figures for the comparison with other ranks.
    pub(super) figures: OnceCell<RankFigures>,
    /// Segments over the whole trace.
    pub(super) history: OnceCell<SegmentHistory>,
    /// Most recent table.
    pub(super) table: TableCache,
    /// Most recently selected kind.
    pub(super) kind: KindCache,
    /// Most recent sweep over settings.
    pub(super) sweep: SweepCache,
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
    /// Returns the annotated spans of the device.
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

    /// Returns the time of a moment in microseconds since the first event.
    pub(super) fn time_us(&self, moment: u32) -> Option<u64> {
        let has_times = self.timeline.has_times();
        has_times.then(|| self.timeline.x_of_moment(self.device, Axis::Time, moment) as u64)
    }
}

/// Areas by each property, computed at first use.
type AreaCache = [OnceCell<Areas>; AreaBy::ALL.len()];

/// Most recent kind, which pictures, totals and steps ask for again and again.
type KindCache = RefCell<Option<(Kind, Rc<Selected>)>>;

/// Allocations of a kind.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) members: Members,
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) key: Option<GroupKey>,
    /// Mark of the group in addresses.
    pub(super) mark: Option<NameMark>,
}

/// Number of trees that are stored, as many as the page shows at once: a sandwich adds two to the graph.
pub(super) const KEPT_TREES: usize = 3;

/// Most recent calls and trees, because zooming and searching ask for the same ones again.
#[derive(Debug, Default)]
pub(crate) struct FlameCache {
    pub(super) calls: RefCell<Option<(u32, FlameSource, Rc<Calls>)>>,
    pub(super) trees: RefCell<Vec<(u32, FlameTree, Rc<CallTree>)>>,
}

/// Most recent sweep of a device.
type SweepCache = RefCell<Option<Running>>;

/// Sweep in progress.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) sweep: Sweep,
    pub(super) scale: Option<BatchScale>,
}
