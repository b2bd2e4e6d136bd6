//! What memory was for: steps, phases, categories, the kind of run, and what stays.
//!
//! Invariant: a [`Study`] is made once for each device, and every question starts from it.

pub(super) mod by_design;
pub(super) mod categories;
pub(super) mod flat_buffers;
pub(super) mod growth;
pub(super) mod left_of_pass;
pub(super) mod older;
pub(super) mod period;
pub(super) mod phases;
pub(super) mod run_kind;
pub(super) mod sites;
pub(super) mod steps;
pub(super) mod studied;
pub(super) mod unused_graphs;

pub use categories::{CategoryBytes, categories, live_by_category, live_by_given_category};
pub use growth::{ClassTotal, Course, Growth, GrowthClass, Kept};
pub use left_of_pass::{ForwardPass, PassRow};
pub use period::Step;
pub use phases::{Phase, PhaseBasis, Phases};
pub use run_kind::RunKind;
pub use steps::{StepSource, Steps};
pub use studied::{Studied, Study};

use crate::analysis::track::timeline::Timeline;
use crate::trace::{Device, Trace};
use by_design::Captured;
use sites::Sites;

impl<'a> Study<'a> {
    /// Finds steps, phases and growth; `timeline` must be built from `device`.
    pub fn new(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline) -> Self {
        let allocations = &timeline.allocations;
        let phases = Phases::find(trace, device, allocations);
        let sites = Sites::of(trace);
        let steps = Steps::of(trace, device, allocations, &phases, &sites);
        let is_called = steps.is_none() && phases.are_told() && !phases.has_backward();
        let rounds = is_called.then(|| sites::rounds(device, &sites, 0..device.events.len() as u32)).flatten();
        let rounds = rounds.and_then(|rounds| Captured::of(device).without_captures(allocations, rounds));
        let kind = RunKind::of(device, allocations, &phases, &sites, steps.as_ref(), rounds.as_ref());
        let mut study = Self { trace, device, timeline, kind, steps, phases, growth: Growth::default(), sites, rounds };
        study.growth = Growth::find(device, allocations, study.repeats(), &study.phases);
        by_design::settle(&mut study);
        study
    }
}
