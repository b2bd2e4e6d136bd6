//! Names the purposes of allocations.

/// Sizes of the workspaces that PyTorch allocates for cuBLAS at its first use and never frees.
///
/// They are 8 MiB + 128 KiB, or 32 MiB on Hopper and later, and 1 MiB for cuBLASLt.
pub(in crate::analysis) const WORKSPACES_BYTES: [u64; 3] = [8_519_680, 33_554_432, 1_048_576];

/// Purpose of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A weight or buffer of the model.
    Parameter,
    /// The gradient of a parameter.
    Gradient,
    /// State that an optimizer keeps between steps.
    OptimizerState,
    /// A tensor that forward keeps for backward.
    Activation,
    /// A batch.
    Input,
    /// A tensor that lives for an operation or two.
    Temporary,
    /// A cuBLAS workspace, which is never freed.
    Workspace,
    /// A buffer of collectives.
    Collective,
    /// Any tensor of a forward pass without training.
    Evaluation,
    /// Neither stack nor lifetime shows the purpose.
    #[default]
    Unknown,
}

crate::names!(Category {
    Parameter => "parameter",
    Gradient => "gradient",
    OptimizerState => "optimizer-state",
    Activation => "activation",
    Input => "input",
    Temporary => "temporary",
    Workspace => "workspace",
    Collective => "collective",
    Evaluation => "evaluation",
    Unknown => "unknown",
});

impl Category {
    /// Returns the plural for use in a sentence.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Parameter => "parameters",
            Self::Gradient => "gradients",
            Self::OptimizerState => "optimizer state",
            Self::Activation => "activations",
            Self::Input => "inputs",
            Self::Temporary => "temporaries",
            Self::Workspace => "workspaces",
            Self::Collective => "communication buffers",
            Self::Evaluation => "evaluation",
            Self::Unknown => "memory of unknown purpose",
        }
    }
}
