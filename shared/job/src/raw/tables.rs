//! The tables of a training config as written, except for the model.

use serde::Serialize;

use super::super::data::{NORMALIZATIONS, Normalize, SPREADS, Spread};
use super::super::document::Value;
use super::super::domain::{BELOW_1, Domain, HOURS, NO_MODEL, Names, Real, SHARE, Whole, real, whole};
use super::super::lora::{LoraTarget, TARGETS};
use super::super::parallel::{GATHERS, Gather, KINDS, ParallelKind};
use super::super::reader::{FromValue, Reader};
use super::super::training::{
    IMPLEMENTATIONS, KEEPS, Keep, OPTIMIZERS, OptimizerImplementation, OptimizerKind, STATES,
};
use super::super::values::Values;

raw_table! {
    /// The optimizer of a [`RawJob`](super::RawJob).
    RawOptimizer(OPTIMIZER: OptimizerKeys) at "optimizer.", expects "`sgd`, `adam`, `adamw` or a table" or kind {
        kind: String as Names<OptimizerKind> = OPTIMIZERS,
        implementation: String as Names<OptimizerImplementation> = IMPLEMENTATIONS,
        learning_rate: f64 as Real = real(0.0, 1e3, "from 0 to 1000"),
        weight_decay: f64 as Real = real(0.0, 1e3, "from 0 to 1000"),
        momentum: f64 as Real = real(0.0, 1.0, SHARE),
        nesterov: bool,
        betas: Betas as Real = real(0.0, BELOW_1, "from 0 to below 1"),
        epsilon: f64 as Real = real(0.0, 1.0, SHARE),
        state: String as Names<bool> = STATES,
        offload: bool,
        offload_gradients: bool,
    }
}

/// Decay rates of Adam's first and second running average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Betas(pub f64, pub f64);

raw_table! {
    /// Layers of a [`RawJob`](super::RawJob) that are checkpointed.
    RawSelected(SELECTED: SelectedKeys) at "checkpointing." {
        every: u64 as Whole = whole(1, 1024, NO_MODEL),
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
        chunks: u64 as Whole = whole(1, 1 << 14, "smaller chunks are not worth the overhead"),
    }
}

raw_table! {
    /// LoRA adapters of a [`RawJob`](super::RawJob).
    RawLora(LORA: LoraKeys) at "lora.", expects "a table such as { rank = 16 }" {
        rank: u64 as Whole = whole(1, 1 << 14, "no layer has that many features"),
        alpha: f64 as Real = real(0.0, 1e6, "from 0 to 10^6"),
        dropout: f64 as Real = real(0.0, 1.0, SHARE),
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
        lengths: String as Names<Spread> = SPREADS,
        shortest: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        batches: String as Names<Spread> = SPREADS,
        smallest: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        seed: u64 as Whole = whole(0, (1 << 32) - 1, "a seed has 32 bits"),
        longest_first: bool,
        pad_to_multiple_of: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        samples: u64 as Whole = whole(1, 1 << 40, "no dataset has that many"),
        drop_last: bool,
        prefetch: u64 as Whole = whole(0, 64, "no GPU can hold that many batches"),
        pin_memory: bool,
        reuse_buffer: bool,
        normalize: String as Names<Normalize> = NORMALIZATIONS,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`](super::RawJob).
    RawEvaluation(EVALUATION: EvaluationKeys) at "evaluation.", expects "a table such as { every = 1 }" {
        every: u64 as Whole = whole(1, 10_000, "no job has more steps"),
        batches: u64 as Whole = whole(1, 1024, HOURS),
        batch: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        no_grad: bool,
    }
}

raw_table! {
    /// Parallelism of a [`RawJob`](super::RawJob) over several devices.
    RawParallel(PARALLEL: ParallelKeys) at "parallel.", expects "a table such as { kind = \"data_parallel\" }" {
        kind: String as Names<ParallelKind> = KINDS,
        devices: u64 as Whole = whole(2, 16, "no machine has that many GPUs in one process"),
        gather: String as Names<Gather> = GATHERS,
        ranks: u64 as Whole = whole(2, 1 << 16, "no cluster has that many GPUs"),
        rank: u64 as Whole = whole(0, (1 << 16) - 1, "no cluster has that many GPUs"),
        bucket_mb: u64 as Whole = whole(1, 1 << 20, "no GPU has that much memory"),
        gradient_as_bucket_view: bool,
        static_graph: bool,
        find_unused_parameters: bool,
        reshard_after_forward: bool,
        mixed_precision: bool,
    }
}

raw_table! {
    /// Ranges of values in a [`RawJob`](super::RawJob).
    RawSweep(SWEEP: SweepKeys) at "sweep.", expects "a table such as { batch = \"1..8x2\" }" {
        card: Values<String>,
        precision: Values<String>,
        checkpointing: Values<bool>,
        sequence: Values<u64>,
        batch: Values<u64>,
    }
}
