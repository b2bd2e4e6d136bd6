//! Ways to save memory: what a run computes twice, moves to the host, or never has at once.

use super::names::Names;

/// How a run saves memory, besides checkpointing all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saving {
    /// Checkpointing takes every so many layers: with 2 the second, the fourth and so on.
    pub checkpoint_every: u64,
    /// What checkpointed layers keep nevertheless.
    pub keep: Keep,
    /// Parts that the sequence is cut into for head and loss; `None` has all logits at once.
    pub loss_chunks: Option<u64>,
    /// Whether what backward needs waits for it in host memory.
    pub offload_activations: bool,
}

impl Saving {
    /// Whether the layer of this index, counted from 0, is among those that checkpointing takes.
    pub const fn checkpoints(&self, layer: u64) -> bool {
        (layer + 1).is_multiple_of(self.checkpoint_every)
    }
}

/// Results of operations that a checkpointed layer keeps, so that they are not computed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: everything is computed again.
    Nothing,
    /// Those of attention kernels.
    Attention,
    /// Those of matrix products.
    Matmul,
}

/// What is kept, by name.
pub(super) const KEEPS: Names<Keep> =
    &[("nothing", Keep::Nothing), ("attention", Keep::Attention), ("matmul", Keep::Matmul)];

/// Where an optimizer has its state, and in which number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptimizerStorage {
    /// On the device, in the format of the weights.
    Device,
    /// On the device, in blocks of 8-bit numbers, as bitsandbytes has it.
    EightBit,
    /// In host memory, where the step is taken too, as torchao's `CPUOffloadOptimizer` does.
    Host {
        /// Whether gradients are freed as soon as the host has them.
        gradients: bool,
    },
}

/// Whether state has 8 bits, by name.
pub(super) const STATES: Names<bool> = &[("full", false), ("8bit", true)];
