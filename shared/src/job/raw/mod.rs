//! The training config as a person writes it: every key may be missing, and nothing is checked but types.
//!
//! `README.md` beside this folder is the reference of the keys; a test holds the two together.

use serde::Serialize;

use super::document::{Format, KeyPlaces, Value};
use super::problem::Problem;
use super::reader::{MOST_PROBLEMS, Reader};

/// Declares a table of a config: one optional field a key, and how it is read.
///
/// With derived code a wrong key would end the reading; here all wrong keys are found at once, each with its path.
macro_rules! raw_table {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $key:ident: $type:ty,)* }
        $(with $($table:literal $inner:ty,)*)?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)*
        }

        impl $name {
            /// The keys that the table can have, in the order of the reference.
            pub const KEYS: &[&str] = &[$(stringify!($key)),*];

            /// The tables below this one that a key may have been meant for.
            fn elsewhere() -> &'static [(&'static str, &'static [&'static str])] {
                &[$($(($table, <$inner>::KEYS),)*)?]
            }

            pub(super) fn read(entries: &[(String, Value)], reader: &mut Reader<'_>) -> Self {
                let mut raw = Self::default();
                for (key, value) in entries {
                    match key.as_str() {
                        $(stringify!($key) => raw.$key = reader.value(key, value),)*
                        _ => reader.unknown(key, Self::KEYS, Self::elsewhere()),
                    }
                }
                raw
            }

            /// The keys that are written, in the order of the reference.
            pub fn keys_set(&self) -> impl Iterator<Item = &'static str> {
                [$((stringify!($key), self.$key.is_some())),*].into_iter().filter(|(_, set)| *set).map(|(key, _)| key)
            }
        }
    };
}

mod data;
mod devices;
mod model;
mod training;

pub use data::{RawData, RawEvaluation};
pub use devices::{RawParallel, RawSweep};
pub use model::{RawModel, Sizes};
pub(super) use training::RawSelected;
pub use training::{Betas, RawCheckpointing, RawLora, RawLoss, RawOptimizer};

raw_table! {
    /// A training config as it is written.
    RawJob {
        /// What a person calls it.
        name: String,
        /// The model: a preset's name, or a table.
        model: RawModel,
        /// Samples of a micro batch.
        batch: u64,
        /// Tokens of a sample.
        sequence: u64,
        /// Optimizer steps.
        steps: u64,
        /// Micro batches of a step.
        accumulation: u64,
        /// Number formats: `fp32`, `tf32`, `bf16`, `autocast-bf16` or `autocast-fp16`.
        precision: String,
        /// Whether a `GradScaler` scales the loss.
        grad_scaler: bool,
        /// The optimizer: its kind, or a table.
        optimizer: RawOptimizer,
        /// Whether activations are computed again in backward, or those of which layers.
        checkpointing: RawCheckpointing,
        /// Whether what backward needs waits in host memory.
        offload_activations: bool,
        /// How the loss is computed.
        loss: RawLoss,
        /// Adapters that are trained in the model's place.
        lora: RawLora,
        /// The greatest norm of all gradients together.
        clip_grad_norm: f64,
        /// Whether the model's outputs live until the step ends.
        keep_outputs: bool,
        /// Whether gradients are freed after a step.
        set_to_none: bool,
        /// What feeds the training.
        data: RawData,
        /// Passes without training between the steps.
        evaluation: RawEvaluation,
        /// What the script does and had better not.
        mistakes: Vec<String>,
        /// The text of `PYTORCH_CUDA_ALLOC_CONF`.
        allocator: String,
        /// The share of the card's memory that PyTorch may take.
        memory_fraction: f64,
        /// Several devices at once.
        parallel: RawParallel,
        /// Virtual cards: `h100-80gb`, `4x t4-16gb`, `custom:48GiB`.
        card: String,
        /// A real GPU: `cuda:0`.
        device: String,
        /// Ranges, each combination of which is recorded.
        sweep: RawSweep,
    } with
        "model" RawModel,
        "optimizer" RawOptimizer,
        "lora" RawLora,
        "data" RawData,
        "evaluation" RawEvaluation,
}

impl RawJob {
    /// Reads a config.
    ///
    /// # Errors
    ///
    /// The text is not of the format, or keys are unknown or of the wrong type: all of them at once.
    pub fn parse(text: &str, format: Format) -> Result<Self, Vec<Problem>> {
        let value = Value::parse(text, format).map_err(|problem| vec![problem])?;
        Self::from_value(&value).map_err(|problems| KeyPlaces::of(text, format).locate(problems))
    }

    /// Reads a config in TOML; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Toml)
    }

    /// Reads a config in YAML; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_yaml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Yaml)
    }

    /// Reads a config in JSON; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Json)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, Vec<Problem>> {
        let Value::Table(entries) = value else {
            let message = format!("a config is a table of keys, not {}", value.describe());
            return Err(vec![Problem::in_text(None, message, "write for example `model = \"gpt2\"`")]);
        };
        let mut problems = Vec::new();
        let raw = Self::read(entries, &mut Reader::new(&mut problems));
        if problems.is_empty() {
            return Ok(raw);
        }
        let further = raw.further_problems(&problems);
        problems.extend(further);
        problems.truncate(MOST_PROBLEMS);
        Err(problems)
    }

    /// The keys of a text that can be read, whatever is wrong with others; `None` where the text is of another format.
    pub fn readable(text: &str, format: Format) -> Option<Self> {
        match Value::parse(text, format).ok()? {
            Value::Table(entries) => Some(Self::read(&entries, &mut Reader::new(&mut Vec::new()))),
            _ => None,
        }
    }

    /// What is wrong with the keys that could be read, where others could not: all mistakes are told at once.
    ///
    /// What may follow from a key that could not be read is left out.
    fn further_problems(&self, unread: &[Problem]) -> Vec<Problem> {
        let checked = Self { sweep: None, ..self.clone() };
        let further = checked.resolve().err().unwrap_or_default();
        further.into_iter().filter(|problem| !unread.iter().any(|unread| problem.may_follow_from(unread))).collect()
    }

    /// The config as a JSON document that [`RawJob::from_json`] reads.
    ///
    /// # Panics
    ///
    /// Never: the fields are numbers, texts and lists of them.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain fields")
    }
}
