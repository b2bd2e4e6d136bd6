//! All that explanations of one device are made from.

use super::{Growth, Phases, Steps, Timeline};
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
    /// The training steps, where there are at least two.
    pub steps: Option<Steps>,
    /// The parts of the steps.
    pub phases: Phases,
    /// What steps leave behind; nothing without steps.
    pub growth: Growth,
}

impl<'a> Study<'a> {
    /// Finds steps, phases and growth; `timeline` is the one that was built from `device`.
    pub fn new(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline) -> Self {
        let allocations = &timeline.allocations;
        let phases = Phases::find(trace, device, allocations);
        let steps = Steps::of(trace, device, allocations, &phases);
        let growth = steps.as_ref().map(|steps| Growth::find(device, allocations, steps, &phases));
        Self { trace, device, timeline, steps, phases, growth: growth.unwrap_or_default() }
    }

    /// What a stack is about, in a few words.
    pub fn title(&self, stack: StackId) -> String {
        super::stack_title(self.trace, stack).unwrap_or_else(|| "code that left no stack".to_owned())
    }
}
