//! All that explanations of one device are made from.

use super::by_design;
use super::sites::{self, Rounds, Sites};
use super::{Growth, Phases, RunKind, Step, Steps, Timeline};
use crate::base::frame_rules;
use crate::trace::{Device, StackId, Trace};

/// A device with everything that was found out about it, for findings to be drawn from.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    /// The snapshot.
    pub trace: &'a Trace,
    /// The device of it.
    pub device: &'a Device,
    /// The device's lifetimes and curves.
    pub timeline: &'a Timeline,
    /// What the program did.
    pub kind: RunKind,
    /// The training steps, where there are at least two.
    pub steps: Option<Steps>,
    /// The parts of the steps.
    pub phases: Phases,
    /// What steps leave behind, or calls of a model that nothing trains.
    pub growth: Growth,
    /// What stacks say about the places that allocate.
    pub(super) sites: Sites,
    /// Calls of a model that nothing trains.
    pub(super) rounds: Option<Rounds>,
}

/// What was found out about a device, for whoever keeps it apart from the trace.
#[derive(Clone, Debug)]
pub struct Studied {
    /// What the program did.
    pub kind: RunKind,
    /// The training steps, where there are at least two.
    pub steps: Option<Steps>,
    /// The parts of the steps.
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
    /// The study of a device again, from what was found out about it.
    pub fn again(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline, studied: Studied) -> Self {
        let Studied { kind, steps, phases, growth, sites, rounds } = studied;
        Self { trace, device, timeline, kind, steps, phases, growth, sites, rounds }
    }

    /// Finds steps, phases and growth; `timeline` is the one that was built from `device`.
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

    /// The training steps, or else the calls of a model that nothing trains.
    pub(super) fn repeats(&self) -> &[Step] {
        let rounds = || self.rounds.as_ref().map_or(&[][..], |rounds| &rounds.rounds);
        self.steps.as_ref().map_or_else(rounds, |steps| &steps.steps)
    }

    /// The operation that a stack asks PyTorch for, such as `aten::cat`, where C++ frames tell it.
    pub(super) fn operation(&self, stack: StackId) -> Option<String> {
        let frames = self.trace.stacks.frames(stack).iter().rev().map(|&frame| self.trace.frames.get(frame));
        let text = |id| self.trace.strings.get(id);
        let mut frames = frames.map(|frame| (text(frame.name), text(frame.filename)));
        frames.find_map(|(name, filename)| match filename {
            frame_rules::RECORDED_OPERATOR => Some(name.to_owned()),
            _ => frame_rules::operation(name),
        })
    }

    /// What a stack is about, in a few words.
    pub fn title(&self, stack: StackId) -> String {
        super::stack_title(self.trace, stack).unwrap_or_else(|| "code that left no stack".to_owned())
    }
}
