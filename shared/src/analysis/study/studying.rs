//! Studies a device: finds its steps, phases, growth and kind of run.

use crate::analysis::study::by_design;
use crate::analysis::study::captured::Captured;
use crate::analysis::study::growth::Growth;
use crate::analysis::study::phases::Phases;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::{self, Sites};
use crate::analysis::study::steps::Steps;
use crate::analysis::study::studied::Study;
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Device, Trace};

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
