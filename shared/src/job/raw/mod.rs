//! The training config as written: every key may be missing, and only types are checked.
//!
//! The tables here are the only list of the keys: readers, writers, forms and hints follow from it.
//! `docs/configs.md` is the reference of the keys; a test keeps the two in step.

use serde::Serialize;

use super::document::{Format, KeyPlaces, Value};
use super::limits::{ABOVE_0, HOURS, NO_MODEL, Real, Whole, real, whole};
use super::names::Names;
use super::problem::Problem;
use super::reader::{MOST_PROBLEMS, Reader};
use super::training::{PRECISIONS, Precision};

#[macro_use]
mod table;

mod data;
mod devices;
mod model;
mod training;

pub(super) use data::{DATA, EVALUATION};
pub use data::{RawData, RawEvaluation};
pub(super) use devices::PARALLEL;
pub use devices::{RawParallel, RawSweep};
pub(super) use model::MODEL;
pub use model::{RawModel, Sizes};
pub use training::{Betas, RawCheckpointing, RawLora, RawLoss, RawOptimizer};
pub(super) use training::{LORA, LOSS, OPTIMIZER, RawSelected, SELECTED};

raw_table! {
    /// A training config as written.
    RawJob(JOB: JobKeys) at "" {
        /// Name of the recording.
        name: String,
        /// Model: a preset's name, or a table.
        model: RawModel,
        /// Samples of a micro batch.
        batch: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// Tokens of a sample.
        sequence: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Optimizer steps.
        steps: u64 as Whole = whole(1, 10_000, HOURS),
        /// Micro batches of a step.
        accumulation: u64 as Whole = whole(1, 1024, HOURS),
        /// Number format: `fp32`, `tf32`, `bf16`, `autocast-bf16` or `autocast-fp16`.
        precision: String as Names<Precision> = PRECISIONS,
        /// True if a `GradScaler` scales the loss.
        grad_scaler: bool,
        /// Optimizer: its kind, or a table.
        optimizer: RawOptimizer,
        /// Activation checkpointing: on, off, or a table that selects layers.
        checkpointing: RawCheckpointing,
        /// True if tensors saved for backward wait in host memory.
        offload_activations: bool,
        loss: RawLoss,
        /// LoRA adapters that are trained while the model's own weights are frozen.
        lora: RawLora,
        /// Upper bound of the total norm of all gradients.
        clip_grad_norm: f64 as Real = real(ABOVE_0, 1e30, "above 0, or remove the key to turn clipping off"),
        /// True if the model's outputs live until the step ends.
        keep_outputs: bool,
        /// True if gradients are freed after a step.
        set_to_none: bool,
        /// Sizes, order and transfer of the batches.
        data: RawData,
        /// Forward passes without training between the steps.
        evaluation: RawEvaluation,
        /// Text of `PYTORCH_CUDA_ALLOC_CONF`.
        allocator: String,
        /// Fraction of the card's memory that PyTorch may take.
        memory_fraction: f64 as Real = real(ABOVE_0, 1.0, "above 0 and at most 1"),
        /// Parallelism over several devices.
        parallel: RawParallel,
        /// Virtual GPUs: `h100-80gb`, `4x t4-16gb`, `custom:48GiB`.
        card: String,
        /// Real GPU: `cuda:0`.
        device: String,
        /// Ranges of values; each combination is recorded.
        sweep: RawSweep,
    } with model, optimizer, lora, data, evaluation
}

impl RawJob {
    /// Parses a config.
    ///
    /// # Errors
    ///
    /// Returns all problems at once if the text is not of the format, or if keys are unknown or of the wrong type.
    pub fn parse(text: &str, format: Format) -> Result<Self, Vec<Problem>> {
        let value = Value::parse(text, format).map_err(|problem| vec![problem])?;
        Self::from_value(&value).map_err(|problems| KeyPlaces::of(text, format).locate(problems))
    }

    /// Parses a config in TOML.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RawJob::parse`].
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Toml)
    }

    /// Parses a config in YAML.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RawJob::parse`].
    pub fn from_yaml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Yaml)
    }

    /// Parses a config in JSON.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RawJob::parse`].
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Json)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, Vec<Problem>> {
        let Value::Table(entries) = value else {
            let message = format!("a config must be a table of keys, not {}", value.describe());
            return Err(vec![Problem::in_text(None, message, "for example, write `model = \"gpt2\"`")]);
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

    /// Reads the keys that are correct and skips the others; returns `None` if the text is not of the format.
    pub fn readable(text: &str, format: Format) -> Option<Self> {
        match Value::parse(text, format).ok()? {
            Value::Table(entries) => Some(Self::read(&entries, &mut Reader::new(&mut Vec::new()))),
            _ => None,
        }
    }

    /// Returns the problems of the keys that could be read, so that all mistakes are reported at once.
    ///
    /// Problems that may follow from a key that could not be read are left out.
    fn further_problems(&self, unread: &[Problem]) -> Vec<Problem> {
        let checked = Self { sweep: None, ..self.clone() };
        let further = checked.resolve().err().unwrap_or_default();
        further.into_iter().filter(|problem| !unread.iter().any(|unread| problem.may_follow_from(unread))).collect()
    }

    /// Returns the config as a JSON document that [`RawJob::from_json`] reads.
    ///
    /// # Panics
    ///
    /// Never: the fields are numbers, strings and lists of them.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain fields")
    }
}
