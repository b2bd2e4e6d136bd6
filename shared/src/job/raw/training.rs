//! The optimizer, the checkpointing, the loss and the adapters of a training config as written.

use serde::Serialize;

use super::super::document::Value;
use super::super::domain::Domain;
use super::super::limits::{BELOW_1, NO_MODEL, Real, SHARE, Whole, real, whole};
use super::super::lora::{LoraTarget, TARGETS};
use super::super::names::Names;
use super::super::reader::{FromValue, Reader};
use super::super::saving::{KEEPS, Keep, STATES};
use super::super::training::{IMPLEMENTATIONS, OptimizerImplementation, RULES, Rule};

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
