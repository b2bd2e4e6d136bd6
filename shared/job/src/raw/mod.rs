//! The training config as written: every key may be missing, and only types are checked.
//!
//! The tables here are the only list of the keys: readers, writers, forms and hints follow from it.
//! `docs/configs.md` is the reference of the keys; a test keeps the two in step. What a key means stands at the field
//! of the same name in the types of a resolved job.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::document::{Format, KeyPlaces, Value};
use super::domain::{ABOVE_0, HOURS, NO_MODEL, Names, Real, Whole, real, whole};
use super::problem::Problem;
use super::reader::{MOST_PROBLEMS, Reader};
use super::training::{PRECISIONS, Precision};

#[macro_use]
mod table;

mod model;
mod tables;

pub(super) use model::MODEL;
pub use model::{RawModel, Sizes};
pub(super) use table::{Key, Table};
pub use tables::{
    Betas, RawCheckpointing, RawData, RawEvaluation, RawLora, RawLoss, RawOptimizer, RawParallel, RawSelected, RawSweep,
};
pub(super) use tables::{DATA, EVALUATION, LORA, LOSS, OPTIMIZER, PARALLEL, SELECTED};

raw_table! {
    /// A training config as written.
    RawJob(JOB: JobKeys) at "" {
        name: String,
        /// Model: a preset's name, or a table.
        model: RawModel,
        batch: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        sequence: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        steps: u64 as Whole = whole(1, 10_000, HOURS),
        accumulation: u64 as Whole = whole(1, 1024, HOURS),
        precision: String as Names<Precision> = PRECISIONS,
        grad_scaler: bool,
        optimizer: RawOptimizer,
        checkpointing: RawCheckpointing,
        offload_activations: bool,
        loss: RawLoss,
        lora: RawLora,
        clip_grad_norm: f64 as Real = real(ABOVE_0, 1e30, "above 0, or remove the key to turn clipping off"),
        keep_outputs: bool,
        set_to_none: bool,
        data: RawData,
        evaluation: RawEvaluation,
        allocator: String,
        memory_fraction: f64 as Real = real(ABOVE_0, 1.0, "above 0 and at most 1"),
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

    /// Parses a config in TOML; see [`RawJob::parse`].
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Toml)
    }

    /// Parses a config in JSON; see [`RawJob::parse`].
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
        let mut problems = Problem::told_once(problems);
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

/// Returns the words that a key accepts, in the order of the reference; empty if it accepts none.
///
/// Cards are not listed, since `card` also accepts lists and sizes: see [`Card::all`](crate::Card::all).
pub fn words(path: &str) -> Vec<&'static str> {
    RawJob::domain(path).map(|domain| domain.words()).unwrap_or_default()
}

/// Returns the bounds of a key, `None` if it takes no whole number.
pub fn bounds(path: &str) -> Option<RangeInclusive<u64>> {
    RawJob::domain(path)?.bounds()
}

/// Overridden keys; `None` keeps the value of the config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Virtual GPUs, replacing the config's `card` or `device`.
    pub card: Option<String>,
    /// A real GPU, replacing the config's `card` or `device`.
    pub device: Option<String>,
    pub steps: Option<u64>,
    /// Samples of a micro batch.
    pub batch: Option<u64>,
    /// Tokens of a sample.
    pub sequence: Option<u64>,
}

impl Overrides {
    /// Returns the keys whose values in the config are ignored.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let Self { card, device, steps, batch, sequence } = self;
        let place = card.is_some() || device.is_some();
        [
            (JOB.card.name, place),
            (JOB.device.name, place),
            (JOB.steps.name, steps.is_some()),
            (JOB.batch.name, batch.is_some()),
            (JOB.sequence.name, sequence.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_overridden)| is_overridden.then_some(key))
    }

    /// Returns the config with these keys overridden.
    pub fn apply(self, raw: RawJob) -> RawJob {
        let (card, device) = match (self.card, self.device) {
            (None, None) => (raw.card, raw.device),
            overridden => overridden,
        };
        RawJob {
            card,
            device,
            steps: self.steps.or(raw.steps),
            batch: self.batch.or(raw.batch),
            sequence: self.sequence.or(raw.sequence),
            ..raw
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a config accepts each word of a key, and refuses another.
    #[track_caller]
    fn check(path: &str, config: impl Fn(&str) -> String) {
        let refused = |word: &str| {
            let raw = RawJob::from_toml(&config(word)).unwrap();
            let problems = raw.resolve().err().unwrap_or_default();
            problems.iter().any(|problem| problem.message.contains("unknown value"))
        };
        assert!(!words(path).is_empty(), "{path}");
        for word in words(path) {
            assert!(!refused(word), "{path} = {word}");
        }
        assert!(refused("nonsense"), "{path}: the check can fail");
    }

    #[test]
    fn configs_take_the_words() {
        check("precision", |word| format!("model = \"mlp\"\nprecision = \"{word}\""));
        check("optimizer.kind", |word| format!("model = \"mlp\"\noptimizer = \"{word}\""));
        check("optimizer.implementation", |word| {
            format!("model = \"mlp\"\noptimizer = {{ implementation = \"{word}\" }}")
        });
        check("model.attention", |word| format!("model = {{ preset = \"gpt2\", attention = \"{word}\" }}"));
        check("parallel.kind", |word| format!("model = \"gpt2\"\nparallel = {{ kind = \"{word}\" }}"));
    }

    #[test]
    fn keys_without_words_or_bounds_have_none() {
        assert_eq!(words("batch"), [""; 0]);
        assert_eq!(bounds("batch"), Some(1..=1 << 16));
        assert_eq!(bounds("precision"), None);
    }

    #[test]
    fn a_card_replaces_a_device() {
        let raw = RawJob { device: Some("cuda:0".to_owned()), batch: Some(4), steps: Some(3), ..RawJob::default() };
        let overrides = Overrides { card: Some("t4-16gb".to_owned()), steps: Some(5), ..Overrides::default() };
        let job = overrides.apply(raw.clone());
        assert_eq!((job.card.as_deref(), job.device, job.steps, job.batch), (Some("t4-16gb"), None, Some(5), Some(4)));
        assert_eq!(Overrides::default().apply(raw.clone()), raw);
    }
}
