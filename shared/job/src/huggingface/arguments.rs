//! Imports the `TrainingArguments` of a training, written by `to_json_string` or by a person.

use super::super::document::Value;
use super::super::problem::{Problem, excerpt};
use super::super::raw::{Betas, RawEvaluation, RawOptimizer};
use super::super::reader::{FromValue, Reader};
use super::import::Import;
use super::notes;

/// Default number of samples of a batch.
const BATCH: u64 = 8;

/// Most steps that are imported: memory repeats from step to step, and a whole training would take hours.
const MOST_STEPS: u64 = 20;

/// Most steps between evaluations that are imported: no job has more steps.
const MOST_EVERY: f64 = 10_000.0;

/// Default optimizer of transformers 5 with torch 2.8 or later.
const OPTIMIZER: &str = "adamw_torch_fused";

/// Optimizers by the arguments' names: kind and implementation here.
const OPTIMIZERS: &[(&str, &str, &str)] = &[
    ("adamw_torch_fused", "adamw", "fused"),
    ("adamw_torch", "adamw", "foreach"),
    ("adamw_hf", "adamw", "for-loop"),
    ("sgd", "sgd", "foreach"),
];

/// Keys that `TrainingArguments` have and this project's configs don't.
const MARKS: &[&str] = &[
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "output_dir",
    "learning_rate",
    "bf16",
    "fp16",
    "optim",
];

/// Returns true if a document is training arguments and not a config of this project.
pub(super) fn is_alone(value: &Value) -> bool {
    value.get("model").is_none() && MARKS.iter().filter(|key| value.get(key).is_some()).count() >= 2
}

/// Reads training arguments into the job, and returns the precision that they ask for.
pub(super) fn read(value: &Value, import: &mut Import, problems: &mut Vec<Problem>) -> Option<&'static str> {
    let Value::Table(entries) = value else {
        let message = format!("training arguments must be a table of keys, not {}", value.describe());
        problems.push(Problem::in_text(None, message, ""));
        return None;
    };
    let mut file = File { import, reader: Reader::new(problems), seen: Seen::default() };
    for (key, value) in entries {
        if *value == Value::Null {
            file.import.ignored(key, "not set");
        } else {
            file.key(key, value);
        }
    }
    file.finish()
}

/// Values of keys that take effect only in combination.
#[derive(Default)]
struct Seen {
    batch: Option<u64>,
    use_cache: bool,
    bf16: Option<bool>,
    fp16: Option<bool>,
    tf32: Option<bool>,
    optimizer: Option<String>,
    learning_rate: Option<f64>,
    weight_decay: Option<f64>,
    beta1: Option<f64>,
    beta2: Option<f64>,
    epsilon: Option<f64>,
    max_grad_norm: Option<f64>,
    evaluation: Option<String>,
    eval_steps: Option<f64>,
    eval_batch: Option<u64>,
}

struct File<'a, 'p> {
    import: &'a mut Import,
    reader: Reader<'p>,
    seen: Seen,
}

impl File<'_, '_> {
    /// Takes a key that has a value.
    fn key(&mut self, key: &str, value: &Value) {
        if let Some(field) = self.field(key, value) {
            return self.import.understood(key, format!("{field} = {}", value.describe()));
        }
        match key {
            "max_steps" => self.steps(value),
            "use_cache" => self.import.ignored(key, notes::why_encoder(key)),
            "max_seq_length" | "max_length" | "block_size" => self.import.ignored(key, "the model reads images"),
            "bf16" => self.seen.bf16 = self.reader.value(key, value),
            "fp16" => self.seen.fp16 = self.reader.value(key, value),
            "tf32" => self.seen.tf32 = self.reader.value(key, value),
            "num_train_epochs" => {
                let note =
                    "the size of the dataset is unknown; a few steps are recorded, and --steps sets their number";
                self.import.ignored(key, note);
            }
            "optim" => self.seen.optimizer = self.reader.value(key, value),
            "max_grad_norm" => self.seen.max_grad_norm = number(&mut self.reader, key, value),
            "eval_strategy" | "evaluation_strategy" => self.seen.evaluation = self.reader.value(key, value),
            "per_device_eval_batch_size" => self.seen.eval_batch = self.reader.value(key, value),
            "eval_steps" => self.seen.eval_steps = number(&mut self.reader, key, value),
            _ if is_off(value) => self.import.ignored(key, "off"),
            _ => self.import.ignored(key, notes::why_argument(key)),
        }
    }

    /// Reads a key whose value goes to one field, and returns that field.
    fn field(&mut self, key: &str, value: &Value) -> Option<&'static str> {
        let (reads_tokens, is_decoder) = (!self.import.reads_images(), self.import.is_of("transformer"));
        let (job, seen) = (&mut self.import.job, &mut self.seen);
        let (field, slot) = match key {
            "per_device_train_batch_size" | "per_gpu_train_batch_size" => ("batch", &mut seen.batch),
            "gradient_accumulation_steps" => ("accumulation", &mut job.accumulation),
            "max_seq_length" | "max_length" | "block_size" if reads_tokens => ("sequence", &mut job.sequence),
            "gradient_checkpointing" | "activation_checkpointing" => {
                job.checkpointing = self.reader.value(key, value);
                return Some("checkpointing");
            }
            "use_cache" => {
                seen.use_cache = true;
                if !is_decoder {
                    return None;
                }
                job.model.as_mut()?.use_cache = self.reader.value(key, value);
                return Some("model.use_cache");
            }
            _ => {
                let (field, slot) = match key {
                    "learning_rate" => ("optimizer.learning_rate", &mut seen.learning_rate),
                    "weight_decay" => ("optimizer.weight_decay", &mut seen.weight_decay),
                    "adam_beta1" => ("optimizer.betas, the first", &mut seen.beta1),
                    "adam_beta2" => ("optimizer.betas, the second", &mut seen.beta2),
                    "adam_epsilon" => ("optimizer.epsilon", &mut seen.epsilon),
                    _ => return None,
                };
                *slot = number(&mut self.reader, key, value);
                return Some(field);
            }
        };
        *slot = self.reader.value(key, value);
        Some(field)
    }

    fn steps(&mut self, value: &Value) {
        if matches!(value, Value::Whole(..=0)) {
            return self.import.ignored("max_steps", "off");
        }
        let Some(steps) = self.reader.value::<u64>("max_steps", value) else { return };
        let taken = steps.min(MOST_STEPS);
        let why = ": memory use repeats from step to step; --steps sets another number";
        self.import.understood("max_steps", format!("steps = {taken}{}", if taken < steps { why } else { "" }));
        self.import.job.steps = Some(taken);
    }

    fn finish(mut self) -> Option<&'static str> {
        if self.seen.batch.is_none() {
            self.import.understood("per_device_train_batch_size", format!("not set: batch = {BATCH}, as in Trainer"));
        }
        self.import.job.batch = self.seen.batch.or(Some(BATCH));
        self.outputs();
        self.clipping();
        self.optimizer();
        self.evaluation();
        self.precision()
    }

    /// Chooses the first of the formats that is on; the others are ignored.
    fn precision(&mut self) -> Option<&'static str> {
        let Seen { bf16, fp16, tf32, .. } = self.seen;
        if bf16 == Some(true) && fp16 == Some(true) {
            self.reader.problem("fp16", "`bf16` and `fp16` are both on".to_owned(), "keep one of them");
        }
        let mut chosen = None;
        for (key, on, word) in
            [("bf16", bf16, "autocast-bf16"), ("fp16", fp16, "autocast-fp16"), ("tf32", tf32, "tf32")]
        {
            match (on, chosen) {
                (None, _) => {}
                (Some(false), _) => self.import.ignored(key, "off"),
                (Some(true), Some(other)) => self.import.ignored(key, format!("precision is already {other}")),
                (Some(true), None) => {
                    self.import.understood(key, format!("precision = \"{word}\""));
                    chosen = Some(word);
                }
            }
        }
        chosen
    }

    /// Decides how long the model's outputs live.
    ///
    /// Only Trainer of transformers 5 writes `use_cache`, and it drops outputs as soon as their loss is computed; other
    /// arguments may belong to a loop that keeps a reference to them.
    fn outputs(&mut self) {
        if self.seen.use_cache {
            self.import.job.keep_outputs = Some(false);
            self.import.understood("keep_outputs", "keep_outputs = false, as in Trainer of transformers 5");
        } else {
            let note = "not set: the model's config sets the cache, and outputs live until the step ends, as in a \
                plain training loop; write `use_cache: false` for Trainer of transformers 5, which keeps neither";
            self.import.understood("use_cache", note);
        }
    }

    fn clipping(&mut self) {
        let norm = self.seen.max_grad_norm.unwrap_or(1.0);
        let not_set = if self.seen.max_grad_norm.is_none() { "not set: " } else { "" };
        self.import.job.clip_grad_norm = (norm != 0.0).then_some(norm);
        let note = if norm == 0.0 { "no clipping".to_owned() } else { format!("{not_set}clip_grad_norm = {norm}") };
        self.import.understood("max_grad_norm", note);
    }

    fn optimizer(&mut self) {
        let named = self.seen.optimizer.as_deref();
        let name = named.unwrap_or(OPTIMIZER);
        let known = OPTIMIZERS.iter().find(|(known, ..)| *known == name);
        let (kind, implementation) = known.map_or(("adamw", "foreach"), |(_, kind, how)| (*kind, *how));
        let becomes = format!("optimizer = {kind}, {implementation}");
        match (known, named) {
            (None, _) => {
                let note = format!("`{}` is not modeled; the figures are for adamw_torch", excerpt(name));
                self.import.ignored("optim", note);
            }
            (_, None) => self.import.understood("optim", format!("not set: {becomes}, as in Trainer")),
            (_, Some(_)) => self.import.understood("optim", becomes),
        }
        let is_adam = kind != "sgd";
        let Seen { learning_rate, weight_decay, beta1, beta2, epsilon, .. } = self.seen;
        self.import.job.optimizer = Some(RawOptimizer {
            kind: Some(kind.to_owned()),
            implementation: Some(implementation.to_owned()),
            learning_rate: learning_rate.or(Some(5e-5)),
            weight_decay: weight_decay.or(Some(0.0)),
            betas: is_adam.then(|| Betas(beta1.unwrap_or(0.9), beta2.unwrap_or(0.999))),
            epsilon: is_adam.then(|| epsilon.unwrap_or(1e-8)),
            ..RawOptimizer::default()
        });
    }

    /// Sets the evaluations, which Trainer runs without gradients, to one batch: the number of batches is unknown.
    fn evaluation(&mut self) {
        let steps = self.import.job.steps.unwrap_or(1);
        let Seen { eval_steps, eval_batch, .. } = self.seen;
        let strategy = self.seen.evaluation.as_deref();
        let is_on = !matches!(strategy, None | Some("no"));
        // A fraction of all steps can't be resolved, because their number is unknown.
        let every = eval_steps.filter(|every| strategy == Some("steps") && *every >= 1.0);
        let every = every.map_or(steps, |every| every.min(MOST_EVERY) as u64);
        let batch = eval_batch.unwrap_or(BATCH);
        for (key, is_set, note) in [
            ("eval_strategy", strategy.is_some(), "evaluation of one batch, without gradients".to_owned()),
            ("eval_steps", eval_steps.is_some(), format!("evaluation.every = {every}")),
            ("per_device_eval_batch_size", eval_batch.is_some(), format!("evaluation.batch = {batch}")),
        ] {
            match (is_set, is_on) {
                (false, _) => {}
                (true, true) => self.import.understood(key, note),
                (true, false) => self.import.ignored(key, "no evaluation without eval_strategy"),
            }
        }
        let (every, batches, batch, no_grad) = (Some(every), Some(1), Some(batch), Some(true));
        self.import.job.evaluation = is_on.then_some(RawEvaluation { every, batches, batch, no_grad });
    }
}

/// Reads a number, also one that YAML 1.1 or a shell left as text.
fn number(reader: &mut Reader<'_>, key: &str, value: &Value) -> Option<f64> {
    match value {
        Value::Text(text) if text.parse::<f64>().is_ok() => f64::from_value(&Value::Real(text.parse().ok()?), reader),
        value => reader.value(key, value),
    }
}

/// Returns true if a value turns a setting off.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(on) => !on,
        Value::Whole(number) => *number == 0,
        Value::Real(number) => *number == 0.0,
        Value::Text(text) => text.is_empty() || text == "no" || text == "none",
        Value::List(items) => items.is_empty(),
        Value::Table(entries) => entries.is_empty(),
        Value::Null => true,
    }
}
