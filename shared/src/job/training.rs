//! How a model is trained, with every default filled in.

use super::card::Cards;
use super::data::Data;
use super::lora::Lora;
use super::mistake::Mistake;
use super::model::Model;
use super::parallel::Parallel;
use super::saving::{OptimizerStorage, Saving};

/// A recording to make: valid, complete, and within the limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What a person calls it; one line.
    pub name: String,
    /// The model that is trained.
    pub model: Model,
    /// Samples of a micro batch.
    pub batch: u64,
    /// Tokens of a sample; 1 for models that do not read sequences.
    pub sequence: u64,
    /// Optimizer steps.
    pub steps: u64,
    /// Micro batches of a step: gradients are summed over them.
    pub accumulation: u64,
    /// In which number formats weights and activations are.
    pub precision: Precision,
    /// What changes the weights.
    pub optimizer: Optimizer,
    /// Whether each layer's activations are dropped and computed again in backward.
    pub checkpointing: bool,
    /// Which layers that means, and how memory is saved besides.
    pub saving: Saving,
    /// Adapters that are trained in the model's place.
    pub lora: Option<Lora>,
    /// The greatest norm of all gradients together; `None` does not clip.
    pub clip_grad_norm: Option<f64>,
    /// Whether the model's outputs live until the step ends rather than until their loss is there.
    pub keep_outputs: bool,
    /// How gradients are cleared after a step.
    pub zero_grad: ZeroGrad,
    /// What feeds the training.
    pub data: Data,
    /// Passes without training between the steps.
    pub evaluation: Option<Evaluation>,
    /// What the script does and had better not, each once.
    pub mistakes: Vec<Mistake>,
    /// The text of `PYTORCH_CUDA_ALLOC_CONF`; empty for PyTorch's defaults.
    pub allocator: String,
    /// The share of the card's memory that PyTorch may take, above 0 and at most 1.
    pub memory_fraction: Option<f64>,
    /// How it uses several devices; `None` uses one.
    pub parallel: Option<Parallel>,
    /// What it runs on.
    pub device: Device,
}

/// In which number formats weights and activations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats throughout.
    Fp32,
    /// 32-bit floats, matrix products in TF32.
    Tf32,
    /// Weights, activations and gradients in bfloat16.
    Bf16,
    /// Weights in 32 bits, operations under `torch.autocast`.
    Autocast(Amp),
}

/// The number format of autocast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amp {
    /// Whether it is float16 rather than bfloat16.
    pub fp16: bool,
    /// Whether a `GradScaler` scales the loss.
    pub grad_scaler: bool,
}

/// What changes the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimizer {
    /// Which rule.
    pub kind: OptimizerKind,
    /// How it is carried out.
    pub implementation: OptimizerImplementation,
    /// Learning rate.
    pub learning_rate: f64,
    /// Weight decay; 0 leaves it out.
    pub weight_decay: f64,
    /// Where its state is.
    pub storage: OptimizerStorage,
}

/// Which rule changes the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptimizerKind {
    /// `torch.optim.SGD`; momentum 0 keeps no state.
    Sgd {
        /// The momentum's factor.
        momentum: f64,
        /// Whether the momentum is Nesterov's.
        nesterov: bool,
    },
    /// `torch.optim.Adam`.
    Adam {
        /// The factors of the running averages.
        betas: (f64, f64),
        /// What keeps the division finite.
        epsilon: f64,
    },
    /// `torch.optim.AdamW`.
    AdamW {
        /// The factors of the running averages.
        betas: (f64, f64),
        /// What keeps the division finite.
        epsilon: f64,
    },
}

/// How an optimizer's step is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptimizerImplementation {
    /// Lists of tensors at once, with temporary copies of all of them: PyTorch's default on a GPU.
    Foreach,
    /// One kernel for everything, without temporary copies.
    Fused,
    /// One parameter after the other.
    ForLoop,
}

/// How gradients are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroGrad {
    /// They are freed: PyTorch's default.
    SetToNone,
    /// They are filled with zeros and stay allocated.
    Zero,
}

/// Passes without training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// After every so many steps.
    pub every: u64,
    /// Batches of one evaluation.
    pub batches: u64,
    /// Samples of a batch.
    pub batch: u64,
    /// Whether it runs under `torch.no_grad()`; without, each batch builds a graph that its loss holds.
    pub no_grad: bool,
}

/// What a job runs on.
#[derive(Debug, Clone, PartialEq)]
pub enum Device {
    /// Virtual GPUs.
    Virtual(Cards),
    /// The real GPU with this CUDA index.
    Cuda(u32),
}
