//! The tables of a training config as written, except for the model.

use serde::Serialize;

use super::super::data::{NORMALIZATIONS, Normalize, SPREADS, SpreadKind};
use super::super::document::Value;
use super::super::domain::{BELOW_1, Domain, HOURS, NO_MODEL, Names, Real, SHARE, Whole, real, whole};
use super::super::lora::{LoraTarget, TARGETS};
use super::super::parallel::{GATHERS, Gather, KINDS, ParallelKind};
use super::super::reader::{FromValue, Reader};
use super::super::training::{IMPLEMENTATIONS, KEEPS, Keep, OptimizerImplementation, RULES, Rule, STATES};
use super::super::values::Values;

raw_table! {
    /// The optimizer of a [`RawJob`](super::RawJob).
    RawOptimizer(OPTIMIZER: OptimizerKeys) at "optimizer.", expects "`sgd`, `adam`, `adamw` or a table" or kind {
        /// `sgd`, `adam` or `adamw`.
        kind: String as Names<Rule> = RULES,
        /// `foreach`, `fused` or `for-loop`.
        implementation: String as Names<OptimizerImplementation> = IMPLEMENTATIONS,
        learning_rate: f64 as Real = real(0.0, 1e3, "from 0 to 1000"),
        weight_decay: f64 as Real = real(0.0, 1e3, "from 0 to 1000"),
        /// Momentum of SGD.
        momentum: f64 as Real = real(0.0, 1.0, SHARE),
        /// True if SGD uses Nesterov's momentum.
        nesterov: bool,
        /// Decay rates of Adam's running averages.
        betas: Betas as Real = real(0.0, BELOW_1, "from 0 to below 1"),
        /// Epsilon in Adam's denominator.
        epsilon: f64 as Real = real(0.0, 1.0, SHARE),
        /// Number format of the optimizer state: `full` or `8bit`.
        state: String as Names<bool> = STATES,
        /// True if the optimizer state and the step are on the host.
        offload: bool,
        /// True if gradients are freed once the host has them.
        offload_gradients: bool,
    }
}

/// Decay rates of Adam's first and second running average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Betas(pub f64, pub f64);

raw_table! {
    /// Layers of a [`RawJob`](super::RawJob) that are checkpointed.
    RawSelected(SELECTED: SelectedKeys) at "checkpointing." {
        /// Distance between checkpointed layers: 2 takes every second layer.
        every: u64 as Whole = whole(1, 1024, NO_MODEL),
        /// Results that are kept nevertheless: `nothing`, `attention` or `matmul`.
        keep: String as Names<Keep> = KEEPS,
    }
}

/// Activation checkpointing: on or off for all layers, or a selection of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RawCheckpointing {
    All(bool),
    /// Some of the layers, or layers that keep some of their results.
    Selected(RawSelected),
}

impl RawCheckpointing {
    /// Returns true if any layer is checkpointed.
    pub fn is_on(&self) -> bool {
        *self != Self::All(false)
    }
}

raw_table! {
    /// The loss of a [`RawJob`](super::RawJob).
    RawLoss(LOSS: LossKeys) at "loss.", expects "a table such as { chunks = 8 }" {
        /// Number of parts into which the sequence is cut.
        chunks: u64 as Whole = whole(1, 1 << 14, "smaller chunks are not worth the overhead"),
    }
}

raw_table! {
    /// LoRA adapters of a [`RawJob`](super::RawJob).
    RawLora(LORA: LoraKeys) at "lora.", expects "a table such as { rank = 16 }" {
        /// Features between the two matrices of an adapter.
        rank: u64 as Whole = whole(1, 1 << 14, "no layer has that many features"),
        /// The output of an adapter is multiplied by `alpha / rank`.
        alpha: f64 as Real = real(0.0, 1e6, "from 0 to 10^6"),
        /// Dropout probability of the input of the adapters.
        dropout: f64 as Real = real(0.0, 1.0, SHARE),
        /// Linear layers that have adapters.
        targets: Vec<String> as Names<LoraTarget> = TARGETS,
    }
}

impl FromValue for Betas {
    const EXPECTED: &str = "a list of two numbers";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) if items.len() == 2 => {
                Some(Self(f64::from_value(&items[0], reader)?, f64::from_value(&items[1], reader)?))
            }
            _ => None,
        }
    }
}

impl FromValue for RawCheckpointing {
    const EXPECTED: &str = "true, false or a table such as { every = 2 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Bool(is_on) => Some(Self::All(*is_on)),
            Value::Table(entries) => Some(Self::Selected(RawSelected::read(entries, reader))),
            _ => None,
        }
    }

    fn domain(path: &str) -> Option<&'static dyn Domain> {
        RawSelected::domain(path)
    }
}

raw_table! {
    /// Sizes, order and transfer of the batches of a [`RawJob`](super::RawJob).
    RawData(DATA: DataKeys) at "data.", expects "a table such as { lengths = \"uniform\" }" {
        /// Distribution of the lengths: `fixed`, `uniform` or `long-tailed`.
        lengths: String as Names<SpreadKind> = SPREADS,
        shortest: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Distribution of the batch sizes: `fixed`, `uniform` or `long-tailed`.
        batches: String as Names<SpreadKind> = SPREADS,
        /// Samples of the smallest batch.
        smallest: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// Seed of the random sizes.
        seed: u64 as Whole = whole(0, (1 << 32) - 1, "a seed has 32 bits"),
        /// True if the largest batch comes first.
        longest_first: bool,
        /// Lengths are rounded up to a multiple of this.
        pad_to_multiple_of: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Number of samples in the data set.
        samples: u64 as Whole = whole(1, 1 << 40, "no dataset has that many"),
        /// True if a last batch with fewer samples is left out.
        drop_last: bool,
        /// Number of batches that are copied to the device ahead.
        prefetch: u64 as Whole = whole(0, 64, "no GPU can hold that many batches"),
        /// True if batches in host memory are pinned.
        pin_memory: bool,
        /// True if batches are copied into the same tensors each time.
        reuse_buffer: bool,
        /// Place of the normalization of images: `on-host`, `in-place` or `out-of-place`.
        normalize: String as Names<Normalize> = NORMALIZATIONS,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`](super::RawJob).
    RawEvaluation(EVALUATION: EvaluationKeys) at "evaluation.", expects "a table such as { every = 1 }" {
        /// Number of steps between evaluations.
        every: u64 as Whole = whole(1, 10_000, "no job has more steps"),
        batches: u64 as Whole = whole(1, 1024, HOURS),
        batch: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// True if the evaluation runs under `torch.no_grad()`.
        no_grad: bool,
    }
}

raw_table! {
    /// Parallelism of a [`RawJob`](super::RawJob) over several devices.
    RawParallel(PARALLEL: ParallelKeys) at "parallel.", expects "a table such as { kind = \"data_parallel\" }" {
        /// `data_parallel`, `ddp` or `fsdp`.
        kind: String as Names<ParallelKind> = KINDS,
        /// Number of devices in one process, for `data_parallel`.
        devices: u64 as Whole = whole(2, 16, "no machine has that many GPUs in one process"),
        /// Values that are gathered on the first device: `outputs` or `losses`.
        gather: String as Names<Gather> = GATHERS,
        /// Number of processes.
        ranks: u64 as Whole = whole(2, 1 << 16, "no cluster has that many GPUs"),
        /// Rank of the process that is recorded, from 0.
        rank: u64 as Whole = whole(0, (1 << 16) - 1, "no cluster has that many GPUs"),
        /// Largest size of a gradient bucket, in MiB.
        bucket_mb: u64 as Whole = whole(1, 1 << 20, "no GPU has that much memory"),
        /// True if gradients are views of their buckets.
        gradient_as_bucket_view: bool,
        /// True if every step uses the same parameters.
        static_graph: bool,
        /// True if each forward pass looks for unused parameters.
        find_unused_parameters: bool,
        /// True if sharded parameters are freed between forward and backward.
        reshard_after_forward: bool,
        /// True if sharded parameters are gathered in bfloat16.
        mixed_precision: bool,
    }
}

raw_table! {
    /// Ranges of values in a [`RawJob`](super::RawJob).
    RawSweep(SWEEP: SweepKeys) at "sweep.", expects "a table such as { batch = \"1..8x2\" }" {
        card: Values<String>,
        precision: Values<String>,
        checkpointing: Values<bool>,
        /// Tokens of a sample.
        sequence: Values<u64>,
        /// Samples of a micro batch.
        batch: Values<u64>,
    }
}
