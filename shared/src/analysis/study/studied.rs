//! Bundles all analysis results of one device that findings are based on.

use crate::analysis::study::growth::Growth;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phases;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::{Rounds, Sites};
use crate::analysis::study::steps::Steps;
use crate::analysis::track::stack_title::stack_title;
use crate::analysis::track::timeline::Timeline;
use crate::base::stack_label;
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
    pub(in crate::analysis) sites: Sites,
    /// Calls of the model if nothing is trained.
    pub(in crate::analysis) rounds: Option<Rounds>,
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

    /// Returns the training steps, or the calls of a model without training.
    pub(in crate::analysis) fn repeats(&self) -> &[Step] {
        let rounds = || self.rounds.as_ref().map_or(&[][..], |rounds| &rounds.rounds);
        self.steps.as_ref().map_or_else(rounds, |steps| &steps.steps)
    }

    /// Returns the operation that a stack requests from PyTorch, such as `aten::cat`, if C++ frames or our recorder
    /// name it.
    pub(in crate::analysis) fn operation(&self, stack: StackId) -> Option<String> {
        let mut frames = self.trace.stacks.frames(stack).iter().rev().map(|&frame| self.trace.frame_text(frame));
        frames.find_map(|(name, filename, _)| stack_label::operation(name, filename))
    }

    pub fn title(&self, stack: StackId) -> String {
        stack_title(self.trace, stack).unwrap_or_else(|| "code without a recorded stack".to_owned())
    }
}
