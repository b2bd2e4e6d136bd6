//! What an allocation is for: a parameter, a gradient, an activation.

use super::{AllocationId, Allocations, Phase, Phases, Steps};
use crate::trace::Device;

/// Sizes of the workspaces that PyTorch gives to cuBLAS when it is first used, once and for all.
///
/// They are 8 MiB and 128 KiB, 32 MiB on Hopper and later, and 1 MiB for cuBLASLt.
pub(super) const WORKSPACES_BYTES: [u64; 3] = [8_519_680, 33_554_432, 1_048_576];

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A weight of the model, or one of its buffers.
    Parameter,
    /// The gradient of a parameter.
    Gradient,
    /// What an optimizer keeps between steps.
    OptimizerState,
    /// What forward keeps for backward.
    Activation,
    /// A batch.
    Input,
    /// What lives for an operation or two.
    Temporary,
    /// What cuBLAS was given to work with, once and for all.
    Workspace,
    /// Buffers of collectives.
    Collective,
    /// Anything of a pass without training.
    Evaluation,
    /// Nothing tells.
    Unknown,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Parameter,
        Self::Gradient,
        Self::OptimizerState,
        Self::Activation,
        Self::Input,
        Self::Temporary,
        Self::Workspace,
        Self::Collective,
        Self::Evaluation,
        Self::Unknown,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer-state",
            Self::Activation => "activation",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Workspace => "workspace",
            Self::Collective => "collective",
            Self::Evaluation => "evaluation",
            Self::Unknown => "unknown",
        }
    }

    /// The name of several in a sentence.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Parameter => "parameters",
            Self::Gradient => "gradients",
            Self::OptimizerState => "optimizer state",
            Self::Activation => "activations",
            Self::Input => "inputs",
            Self::Temporary => "temporaries",
            Self::Workspace => "workspaces",
            Self::Collective => "buffers of collectives",
            Self::Evaluation => "evaluation",
            Self::Unknown => "of unknown use",
        }
    }
}

/// The category of each allocation, by its index.
pub fn categories(device: &Device, allocations: &Allocations, phases: &Phases, steps: Option<&Steps>) -> Vec<Category> {
    let first_end = steps.and_then(|steps| steps.steps.first()).map_or(0, |step| step.end);
    allocations.ids().map(|id| category(id, device, allocations, phases, first_end)).collect()
}

fn category(id: AllocationId, device: &Device, allocations: &Allocations, phases: &Phases, first_end: u32) -> Category {
    let born = allocations.born_at(id.0);
    let died = allocations.died[id.index()];
    if born == 0 {
        return if died > first_end { Category::Parameter } else { Category::Unknown };
    }
    let phase = phases.of_birth(born, allocations.allocation_stack(id, device));
    let leaves = || phases.leaves(born, died);
    match phase {
        Phase::Setup if leaves() => Category::Parameter,
        Phase::Setup => Category::Temporary,
        Phase::Data => Category::Input,
        Phase::Forward | Phase::Recompute if leaves() => Category::Activation,
        Phase::Backward if phases.leaves_backward(born, died) => Category::Gradient,
        Phase::Optimizer if leaves() => Category::OptimizerState,
        Phase::Forward | Phase::Recompute | Phase::Backward | Phase::Optimizer => Category::Temporary,
        Phase::Evaluation => Category::Evaluation,
        Phase::Collective => Category::Collective,
        Phase::Unknown => Category::Unknown,
    }
}
