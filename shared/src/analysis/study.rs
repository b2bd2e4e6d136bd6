//! Bundles all analysis results of one device that findings are based on.

use super::by_design;
use super::sites::{self, Rounds, Sites};
use super::{Growth, Phases, RunKind, Step, Steps, Timeline};
use crate::base::frame_rules;
use crate::trace::{Device, StackId, Trace};

/// A device and all its analysis results.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    pub trace: &'a Trace,
    pub device: &'a Device,
    /// Lifetimes and curves of `device`.
    pub timeline: &'a Timeline,
    pub kind: RunKind,
    /// Training steps, if there are at least two.
    pub steps: Option<Steps>,
    pub phases: Phases,
    /// Memory that remains after steps, or after calls of a model without training.
    pub growth: Growth,
    /// Properties of the places in the code that allocate, by stack.
    pub(super) sites: Sites,
    /// Calls of the model if nothing is trained.
    pub(super) rounds: Option<Rounds>,
}

/// Analysis results of a device without references to the trace, so that they can be stored apart from it.
#[derive(Clone, Debug)]
pub struct Studied {
    pub kind: RunKind,
    /// Training steps, if there are at least two.
    pub steps: Option<Steps>,
    pub phases: Phases,
    growth: Growth,
    sites: Sites,
    rounds: Option<Rounds>,
}

impl From<Study<'_>> for Studied {
    fn from(study: Study<'_>) -> Self {
        let Study { kind, steps, phases, growth, sites, rounds, .. } = study;
        Self { kind, steps, phases, growth, sites, rounds }
    }
}

impl<'a> Study<'a> {
    /// Restores the study of a device from its stored results.
    pub fn again(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline, studied: Studied) -> Self {
        let Studied { kind, steps, phases, growth, sites, rounds } = studied;
        Self { trace, device, timeline, kind, steps, phases, growth, sites, rounds }
    }

    /// Finds steps, phases and growth; `timeline` must be built from `device`.
    pub fn new(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline) -> Self {
        let allocations = &timeline.allocations;
        let phases = Phases::find(trace, device, allocations);
        let sites = Sites::of(trace);
        let steps = Steps::of(trace, device, allocations, &phases, &sites);
        let is_called = steps.is_none() && phases.are_told() && !phases.has_backward();
        let rounds = is_called.then(|| sites::rounds(device, &sites, 0..device.events.len() as u32)).flatten();
        let kind = RunKind::of(device, allocations, &phases, &sites, steps.as_ref(), rounds.as_ref());
        let mut study = Self { trace, device, timeline, kind, steps, phases, growth: Growth::default(), sites, rounds };
        study.growth = Growth::find(device, allocations, study.repeats(), &study.phases);
        by_design::settle(&mut study);
        study
    }

    /// Returns the training steps, or the calls of a model without training.
    pub(super) fn repeats(&self) -> &[Step] {
        let rounds = || self.rounds.as_ref().map_or(&[][..], |rounds| &rounds.rounds);
        self.steps.as_ref().map_or_else(rounds, |steps| &steps.steps)
    }

    /// Returns the operation that a stack requests from PyTorch, such as `aten::cat`, if C++ frames or our recorder
    /// name it.
    pub(super) fn operation(&self, stack: StackId) -> Option<String> {
        let frames = self.trace.stacks.frames(stack).iter().rev().map(|&frame| self.trace.frames.get(frame));
        let text = |id| self.trace.strings.get(id);
        let mut frames = frames.map(|frame| (text(frame.name), text(frame.filename)));
        frames.find_map(|(name, filename)| match filename {
            frame_rules::RECORDED_OPERATOR => Some(name.to_owned()),
            _ => frame_rules::operation(name),
        })
    }

    /// Returns a short description of a stack.
    pub fn title(&self, stack: StackId) -> String {
        super::stack_title(self.trace, stack).unwrap_or_else(|| "code that left no stack".to_owned())
    }
}
