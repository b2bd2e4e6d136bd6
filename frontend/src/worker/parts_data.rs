//! Steps and phases as they travel from the worker to the page.

use serde::{Deserialize, Serialize};

/// The steps and phases of one device, with how they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// Position of the device.
    pub device: u32,
    /// How the steps were found.
    pub steps_basis: StepsBasis,
    /// The steps in their order; they do not overlap.
    pub steps: Vec<Part>,
    /// What the phases were told by.
    pub phases_basis: PhasesBasis,
    /// The phases in their order, without those of which nothing is known; none where annotations name them.
    pub phases: Vec<(PhaseName, Part)>,
}

/// A part of a trace, on both axes: the events after `start_moment`, up to `end_moment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The moment before its first event.
    pub start_moment: u32,
    /// The moment after its last event.
    pub end_moment: u32,
    /// Microseconds of its first event since that of the trace, 0 without times.
    pub start_us: u64,
    /// Microseconds of the first event after it, 0 without times.
    pub end_us: u64,
}

/// How steps were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepsBasis {
    /// Annotations name them: they are spans already.
    #[default]
    Annotations,
    /// The optimizer's updates end them.
    Optimizer,
    /// What is allocated comes again and again in the same order.
    Repetition,
}

impl StepsBasis {
    /// How steps were found in words, `None` where that needs none.
    pub fn origin(self) -> Option<&'static str> {
        match self {
            Self::Annotations => None,
            Self::Optimizer => Some("found by the optimizer's updates"),
            Self::Repetition => Some("found by repetition"),
        }
    }
}

/// What phases were told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PhasesBasis {
    /// Functions of the program and of PyTorch.
    Functions,
    /// Operations of PyTorch.
    Operations,
    /// The shape of the curve: a guess.
    #[default]
    Curve,
}

impl PhasesBasis {
    /// How phases were found in words.
    pub fn origin(self) -> &'static str {
        match self {
            Self::Functions => "told by functions in the stacks",
            Self::Operations => "told by PyTorch's operations",
            Self::Curve => "guessed from the curve's shape",
        }
    }
}

/// A phase of which something is known: `shared::analysis::Phase` as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PhaseName {
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
}

impl PhaseName {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Data => "data",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Recompute => "recompute",
            Self::Optimizer => "optimizer",
            Self::Evaluation => "evaluation",
            Self::Collective => "collective",
        }
    }
}
