//! Which part of a step each moment belongs to.
//!
//! Functions of the program tell it best, then the operations of PyTorch, then the shape of the curve.

mod frames;
mod operations;
mod shape;

use super::{Allocations, Steps};
use crate::trace::{Action, Device, StackId, Trace};

/// A part of a training step, or what comes before and beside the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is built and moved to the device.
    Setup,
    /// A batch is brought to the device.
    Data,
    /// The model runs, its loss included.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Activations are computed again within backward.
    Recompute,
    /// The optimizer steps.
    Optimizer,
    /// The model runs without training.
    Evaluation,
    /// Devices exchange data.
    Collective,
    /// Nothing tells.
    Unknown,
}

/// What phases were told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseBasis {
    /// Functions of the program and of PyTorch's Python.
    Functions,
    /// Operations of PyTorch: nodes of backward and kernels of optimizers.
    Operations,
    /// The shape of the curve, for want of frames: a guess.
    #[default]
    Curve,
}

/// The phase of every moment of a device, as runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Where each run ends, and its phase; moments after the last are unknown.
    runs: Vec<(u32, Phase)>,
    /// The phase of each stack, by its index; empty where frames tell nothing.
    of_stacks: Vec<Phase>,
    basis: PhaseBasis,
}

/// The share of allocations whose frames have to tell a phase, for the others to be told by them.
const LEAST_TOLD: f64 = 0.3;

impl Phases {
    /// Finds the phases of a device.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations, steps: Option<&Steps>) -> Self {
        let (actions, stacks) = (device.events.actions(), device.events.stacks());
        let allocs: Vec<usize> = (0..device.events.len()).filter(|&event| actions.at(event) == Action::Alloc).collect();
        let is_enough = |told: usize| told as f64 > LEAST_TOLD * allocs.len() as f64;
        let of_stacks = frames::of_stacks(trace);
        let of_alloc = |event: usize| of_stacks[stacks.at(event).index()];
        let told = allocs.iter().filter(|&&event| of_alloc(event) != Phase::Unknown).count();
        // Nodes of backward alone say nothing about the rest.
        let is_forward_told = allocs.iter().any(|&event| of_alloc(event) == Phase::Forward);
        if is_forward_told && is_enough(told) {
            let runs = frames::runs(&allocs, device, &of_stacks);
            return Self { runs, of_stacks, basis: PhaseBasis::Functions };
        }
        let signs = operations::signs(trace, &of_stacks);
        let signed = allocs.iter().filter(|&&event| signs[stacks.at(event).index()].is_some()).count();
        if is_enough(signed) {
            let runs = operations::runs(&allocs, device, allocations, &signs);
            return Self { runs, of_stacks: Vec::new(), basis: PhaseBasis::Operations };
        }
        let runs = steps.map_or_else(Vec::new, |steps| shape::runs(device, allocations, &steps.steps));
        Self { runs, of_stacks: Vec::new(), basis: PhaseBasis::Curve }
    }

    /// What the phases were told by.
    pub fn basis(&self) -> PhaseBasis {
        self.basis
    }

    /// Whether frames tell the phases, and not the shape of the curve.
    pub fn are_told(&self) -> bool {
        self.basis != PhaseBasis::Curve
    }

    /// The phase that a moment belongs to.
    pub fn at(&self, moment: u32) -> Phase {
        let index = self.runs.partition_point(|&(end, _)| end < moment);
        self.runs.get(index).map_or(Phase::Unknown, |&(_, phase)| phase)
    }

    /// The phase that a stack tells by itself, if any.
    pub fn of_stack(&self, stack: StackId) -> Phase {
        self.of_stacks.get(stack.index()).copied().unwrap_or(Phase::Unknown)
    }

    /// The phase that an allocation was made in, by its stack or else by its moment.
    pub fn of_birth(&self, born: u32, stack: StackId) -> Phase {
        match self.of_stack(stack) {
            Phase::Unknown => self.at(born),
            phase => phase,
        }
    }

    /// Whether a lifetime goes on after the run that it began in.
    pub(super) fn leaves(&self, born: u32, died: u32) -> bool {
        let index = self.runs.partition_point(|&(end, _)| end < born);
        self.runs.get(index).is_none_or(|&(end, _)| died > end)
    }

    /// Whether a lifetime that began in backward goes on after it, recomputation being a part of it.
    pub(super) fn leaves_backward(&self, born: u32, died: u32) -> bool {
        let index = self.runs.partition_point(|&(end, _)| end < born);
        let is_backward = |phase| matches!(phase, Phase::Backward | Phase::Recompute | Phase::Collective);
        let end = self.runs[index.min(self.runs.len())..].iter().take_while(|run| is_backward(run.1)).last();
        end.is_none_or(|&(end, _)| died > end)
    }

    /// The runs of one phase: where each ends, and its phase.
    pub fn runs(&self) -> &[(u32, Phase)] {
        &self.runs
    }
}
