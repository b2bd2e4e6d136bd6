//! Defines the phases of training and what they can be inferred from.

/// Part of a training step, or of what happens before and between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is created and moved to the device.
    Setup,
    /// A batch is moved to the device.
    Data,
    /// The model runs and its loss is computed.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Activations are computed again during backward, as checkpointing does.
    Recompute,
    /// The optimizer updates the weights.
    Optimizer,
    /// The model runs without training.
    Evaluation,
    /// Devices exchange data.
    Collective,
    Unknown,
}

crate::names!(Phase {
    Setup => "setup",
    Data => "data",
    Forward => "forward",
    Backward => "backward",
    Recompute => "recompute",
    Optimizer => "optimizer",
    Evaluation => "evaluation",
    Collective => "collective",
    Unknown => "unknown",
});

/// Evidence from which phases were inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseBasis {
    /// Functions of the program and of PyTorch's Python code.
    Functions,
    /// Operations of PyTorch: nodes of backward and kernels of optimizers.
    Operations,
    /// Shape of the curve, which is a guess and is used if frames do not identify the phases.
    #[default]
    Curve,
}

crate::names!(PhaseBasis {
    Functions => "functions",
    Operations => "operations",
    Curve => "curve",
});

impl PhaseBasis {
    /// Describes in words how phases were found.
    pub fn origin(self) -> &'static str {
        match self {
            Self::Functions => "inferred from stacks",
            Self::Operations => "inferred from PyTorch's operations",
            Self::Curve => "inferred from the shape of the curve",
        }
    }
}
