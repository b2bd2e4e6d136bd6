//! How a training config optimizes and saves memory, as it is written.

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
        /// Learning rate.
        learning_rate: f64,
        /// Weight decay.
        weight_decay: f64,
        /// The factor of SGD's momentum.
        momentum: f64,
        /// Whether SGD's momentum is Nesterov's.
        nesterov: bool,
        /// The factors of Adam's running averages.
        betas: Betas,
        /// What keeps Adam's division finite.
        epsilon: f64,
        /// The state's numbers: `full` or `8bit`.
        state: String,
        /// Whether state and step are the host's.
        offload: bool,
        /// Whether gradients are freed once the host has them.
        offload_gradients: bool,
    }
}

/// The two factors of Adam's running averages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Betas(pub f64, pub f64);

raw_table! {
    /// The layers that a [`RawJob`](super::RawJob) checkpoints.
    RawSelected {
        /// Every so many layers.
        every: u64,
        /// What is kept nevertheless: `nothing`, `attention` or `matmul`.
        keep: String,
    }
}

/// Whether layers are checkpointed, or which of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RawCheckpointing {
    /// All or none.
    All(bool),
    /// Some of them, or in part.
    Selected(RawSelected),
}

impl RawCheckpointing {
    /// Whether any layer is checkpointed.
    pub fn is_on(&self) -> bool {
        *self != Self::All(false)
    }
}

raw_table! {
    /// The loss of a [`RawJob`](super::RawJob).
    RawLoss {
        /// Parts that the sequence is cut into.
        chunks: u64,
    }
}

raw_table! {
    /// The adapters of a [`RawJob`](super::RawJob).
    RawLora {
        /// Features between an adapter's two matrices.
        rank: u64,
        /// What is added is multiplied by this over the rank.
        alpha: f64,
        /// Probability of dropout of what the adapters read.
        dropout: f64,
        /// The linear layers that have adapters.
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
