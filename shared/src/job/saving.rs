//! Ways to save memory: recomputing activations, offloading to the host, and computing the loss in chunks.

use super::names::Names;

/// Settings that save memory, besides checkpointing all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saving {
    /// Distance between checkpointed layers: 2 takes the second, the fourth and so on.
    pub checkpoint_every: u64,
    /// Results that checkpointed layers keep nevertheless.
    pub keep: Keep,
    /// Number of parts into which the sequence is cut for head and loss; `None` computes all logits at once.
    pub loss_chunks: Option<u64>,
    /// True if tensors saved for backward wait in host memory.
    pub offload_activations: bool,
}

impl Saving {
    /// Returns true if checkpointing takes the layer with this index, counted from 0.
    pub const fn checkpoints(&self, layer: u64) -> bool {
        (layer + 1).is_multiple_of(self.checkpoint_every)
    }
}

/// Results of operations that a checkpointed layer keeps instead of computing them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: everything is computed again.
    Nothing,
    /// Outputs of attention kernels.
    Attention,
    /// Outputs of matrix products.
    Matmul,
}

/// Names of the results that are kept.
pub(super) const KEEPS: Names<Keep> =
    &[("nothing", Keep::Nothing), ("attention", Keep::Attention), ("matmul", Keep::Matmul)];

/// Place and number format of the optimizer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptimizerStorage {
    /// On the device, in the number format of the weights.
    Device,
    /// On the device, in blocks of 8-bit numbers, as in bitsandbytes.
    EightBit,
    /// In host memory, where the step runs too, as in torchao's `CPUOffloadOptimizer`.
    Host {
        /// True if gradients are freed as soon as the host has them.
        gradients: bool,
    },
}

/// Names of the number formats of optimizer state: true for 8 bits.
pub(super) const STATES: Names<bool> = &[("full", false), ("8bit", true)];
