//! How a model is trained, with every default filled in.

use std::fmt;

use super::card::{Card, Cards};
use super::data::Data;
use super::domain::Names;
use super::lora::Lora;
use super::model::Model;
use super::parallel::Parallel;

/// The training of a job: valid, complete, and within the limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Name of the recording, one line.
    pub name: String,
    pub model: Model,
    /// Samples of a micro batch.
    pub batch: u64,
    /// Tokens of a sample; 1 for models that do not read sequences.
    pub sequence: u64,
    /// Optimizer steps.
    pub steps: u64,
    /// Micro batches of a step, over which gradients are summed.
    pub accumulation: u64,
    /// Number formats of weights and activations.
    pub precision: Precision,
    pub optimizer: Optimizer,
    /// True if activations of layers are dropped and computed again in backward.
    pub checkpointing: bool,
    /// Selection of the checkpointed layers, and other ways to save memory.
    pub saving: Saving,
    /// LoRA adapters that are trained while the model's own weights are frozen.
    pub lora: Option<Lora>,
    /// Upper bound of the total norm of all gradients; `None` does not clip.
    pub clip_grad_norm: Option<f64>,
    /// True if the model's outputs live until the step ends, rather than until the loss is computed.
    pub keep_outputs: bool,
    pub zero_grad: ZeroGrad,
    pub data: Data,
    /// Forward passes without training between the steps.
    pub evaluation: Option<Evaluation>,
    /// Text of `PYTORCH_CUDA_ALLOC_CONF`; empty for PyTorch's defaults.
    pub allocator: String,
    /// Fraction of the card's memory that PyTorch may take, above 0 and at most 1.
    pub memory_fraction: Option<f64>,
    /// Parallelism over several devices; `None` uses one device.
    pub parallel: Option<Parallel>,
    pub device: Device,
}

/// Number formats of weights and activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats throughout.
    Fp32,
    /// 32-bit floats, matrix products in TF32.
    Tf32,
    /// Weights, activations and gradients in bfloat16.
    Bf16,
    /// Weights in 32-bit floats, operations under `torch.autocast`.
    Autocast(Amp),
}

/// Settings of autocast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amp {
    /// True for float16, false for bfloat16.
    pub fp16: bool,
    /// True if a `GradScaler` scales the loss.
    pub grad_scaler: bool,
}

/// Names of the precisions, each with its default `grad_scaler`: on for float16, whose gradients can underflow.
pub(super) const PRECISIONS: Names<Precision> = &[
    ("fp32", Precision::Fp32),
    ("tf32", Precision::Tf32),
    ("bf16", Precision::Bf16),
    ("autocast-bf16", Precision::Autocast(Amp { fp16: false, grad_scaler: false })),
    ("autocast-fp16", Precision::Autocast(Amp { fp16: true, grad_scaler: true })),
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimizer {
    pub kind: OptimizerKind,
    /// Momentum of SGD; without it, SGD keeps no state.
    pub momentum: f64,
    /// True for Nesterov's momentum.
    pub nesterov: bool,
    /// Decay rates of Adam's running averages.
    pub betas: (f64, f64),
    /// Epsilon of Adam's denominator.
    pub epsilon: f64,
    pub implementation: OptimizerImplementation,
    pub learning_rate: f64,
    /// Weight decay; 0 leaves the operation out.
    pub weight_decay: f64,
    /// Place and number format of the optimizer state.
    pub storage: OptimizerStorage,
}

words! {
    /// Update rule of an optimizer.
    pub enum OptimizerKind in OPTIMIZERS {
        /// `torch.optim.SGD`.
        Sgd = "sgd",
        /// `torch.optim.Adam`.
        Adam = "adam",
        /// `torch.optim.AdamW`.
        AdamW = "adamw",
    }

    /// Implementation of an optimizer's step.
    pub enum OptimizerImplementation in IMPLEMENTATIONS {
        /// Operates on lists of tensors at once, with temporary copies of all of them: PyTorch's default on a GPU.
        Foreach = "foreach",
        /// One kernel for all operations of the step, without temporary copies.
        Fused = "fused",
        /// One parameter after the other.
        ForLoop = "for-loop",
    }

    /// Results of operations that a checkpointed layer keeps instead of computing them again.
    pub enum Keep in KEEPS {
        /// None: everything is computed again.
        Nothing = "nothing",
        /// Outputs of attention kernels.
        Attention = "attention",
        /// Outputs of matrix products.
        Matmul = "matmul",
    }
}

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

/// How `zero_grad` clears gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroGrad {
    /// Gradients are freed: PyTorch's default.
    SetToNone,
    /// Gradients are filled with zeros and stay allocated.
    Zero,
}

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

/// Forward passes without training between the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// Number of steps between evaluations.
    pub every: u64,
    pub batches: u64,
    pub batch: u64,
    /// True to run under `torch.no_grad()`; otherwise each batch builds a graph that its loss keeps alive.
    pub no_grad: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Device {
    Virtual(Cards),
    /// A real GPU with this CUDA index.
    Cuda(u32),
}

impl Device {
    /// Returns the virtual cards; a real one reports by itself what it can't do.
    pub fn cards(&self) -> &[Card] {
        match self {
            Self::Virtual(cards) => &cards.0,
            Self::Cuda(_) => &[],
        }
    }
}

/// Writes the value of the key `card` or `device`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Virtual(cards) => cards.fmt(f),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}
