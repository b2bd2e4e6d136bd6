//! Traces with their lifetimes, for the tests of questions.

use super::{Population, Replayer};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Device, Trace, text};

/// Trace with the timeline of its first device.
pub(super) struct Sample {
    pub(super) trace: Trace,
    pub(super) timeline: Timeline,
}

impl Sample {
    pub(super) fn of(lines: &str) -> Self {
        Self::new(text::parse(lines).unwrap())
    }

    pub(super) fn new(trace: Trace) -> Self {
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        Self { trace, timeline }
    }

    pub(super) fn device(&self) -> &Device {
        &self.trace.devices[0]
    }

    pub(super) fn allocations(&self) -> &Allocations {
        &self.timeline.allocations
    }

    pub(super) fn study(&self) -> Study<'_> {
        Study::new(&self.trace, self.device(), &self.timeline)
    }

    /// Returns all allocations, without spans and categories.
    pub(super) fn population(&self) -> Population<'_> {
        let Self { trace, timeline } = self;
        Population { trace, device: self.device(), timeline, spans: &[], categories: &[] }
    }

    pub(super) fn replayer(&self) -> Replayer<'_> {
        Replayer::new(&self.trace, self.device(), self.allocations())
    }
}
