//! Holds a device with everything that was computed for it.

use super::allocations::cache::TableCache;
use super::caches::{AreaCache, KindCache};
use super::flame::cache::FlameCache;
use super::what_if::cache::SweepCache;
use shared::analysis::{Axis, Category, RankFigures, SegmentHistory, Span, Studied, Study, Timeline, spans};
use shared::trace::{Device, Trace};
use std::cell::OnceCell;

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
