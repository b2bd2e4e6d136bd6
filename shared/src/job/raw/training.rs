//! The optimizer, the checkpointing, the loss and the adapters of a training config as written.

use serde::Serialize;

use super::super::document::Value;
use super::super::reader::{FromValue, Reader};

raw_table! {
    /// The optimizer of a [`RawJob`](super::RawJob).
    RawOptimizer {
        /// `sgd`, `adam` or `adamw`.
        kind: String,
        /// `foreach`, `fused` or `for-loop`.
        implementation: String,
        learning_rate: f64,
        weight_decay: f64,
        /// Momentum of SGD.
        momentum: f64,
        /// True if SGD uses Nesterov's momentum.
        nesterov: bool,
        /// Decay rates of Adam's running averages.
        betas: Betas,
        /// Epsilon in Adam's denominator.
        epsilon: f64,
        /// Number format of the optimizer state: `full` or `8bit`.
        state: String,
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
    RawSelected {
        /// Distance between checkpointed layers: 2 takes every second layer.
        every: u64,
        /// Results that are kept nevertheless: `nothing`, `attention` or `matmul`.
        keep: String,
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
    RawLoss {
        /// Number of parts into which the sequence is cut.
        chunks: u64,
    }
}

raw_table! {
    /// LoRA adapters of a [`RawJob`](super::RawJob).
    RawLora {
        /// Features between the two matrices of an adapter.
        rank: u64,
        /// The output of an adapter is multiplied by `alpha / rank`.
        alpha: f64,
        /// Dropout probability of the input of the adapters.
        dropout: f64,
        /// Linear layers that have adapters.
        targets: Vec<String>,
    }
}

impl FromValue for RawOptimizer {
    const EXPECTED: &str = "`sgd`, `adam`, `adamw` or a table";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(kind) => Some(Self { kind: Some(kind.clone()), ..Self::default() }),
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
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
}

impl FromValue for RawLoss {
    const EXPECTED: &str = "a table such as { chunks = 8 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawLora {
    const EXPECTED: &str = "a table such as { rank = 16 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}
