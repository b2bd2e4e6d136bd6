//! Resolves a config to a job: fills in defaults, checks everything, and reports all problems at once.

mod allocator;
mod attention;
#[cfg(test)]
mod check;
mod cnn;
mod data;
mod ddp;
mod encoder;
mod experts;
mod fsdp;
mod lora;
mod mistake;
mod model;
mod optimizer;
mod parallel;
mod pipeline;
mod recurrent;
mod saving;
mod tensor;
mod unet;
mod work;

#[cfg(test)]
pub(super) use model::keys_of;

use super::card::{Card, Cards};
use super::limits::{self, MOST_CHARACTERS, MOST_NAME_CHARACTERS};
use super::model::Model;
use super::names::Names;
use super::nearest::did_you_mean;
use super::problem::{Problem, excerpt};
use super::raw::{RawCheckpointing, RawEvaluation, RawJob, RawModel};
use super::training::{Amp, Device, Evaluation, Job, PRECISIONS, Precision, ZeroGrad};
use crate::base::format;

/// Default number of steps: optimizer state and fragmentation have settled by the third.
pub(super) const DEFAULT_STEPS: u64 = 3;

/// Default number of tokens of a sample, if the model takes as many.
const DEFAULT_SEQUENCE: u64 = 1024;

impl RawJob {
    /// Fills in every default and checks every limit.
    ///
    /// # Errors
    ///
    /// Returns all problems at once, each with its key and what to write instead.
    pub fn resolve(self) -> Result<Job, Vec<Problem>> {
        let mut resolver = Resolver::default();
        let job = resolver.job(&self);
        match job {
            Some(job) if resolver.problems.is_empty() => {
                let problems = work::check(&job);
                if problems.is_empty() { Ok(job) } else { Err(problems) }
            }
            _ => Err(resolver.problems),
        }
    }
}

/// Collects problems while values are filled in.
///
/// A value with a problem is replaced by its default, so that the rest is checked too.
#[derive(Default)]
struct Resolver {
    problems: Vec<Problem>,
}

impl Resolver {
    fn job(&mut self, raw: &RawJob) -> Option<Job> {
        let checkpointing = raw.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on);
        let model = self.model(raw.model.as_ref(), checkpointing);
        let batch = self.whole("batch", raw.batch, 1);
        let sequence = self.sequence(raw.sequence, model.as_ref());
        let job = Job {
            name: self.name(raw),
            sequence,
            batch,
            steps: self.whole("steps", raw.steps, DEFAULT_STEPS),
            accumulation: self.whole("accumulation", raw.accumulation, 1),
            precision: self.precision(raw),
            optimizer: self.optimizer(&raw.optimizer.clone().unwrap_or_default()),
            checkpointing,
            saving: self.saving(raw, model.as_ref(), sequence),
            lora: self.lora(raw, model.as_ref()),
            clip_grad_norm: raw.clip_grad_norm.map(|norm| self.real("clip_grad_norm", Some(norm), 1.0)),
            keep_outputs: raw.keep_outputs.unwrap_or(true),
            zero_grad: if raw.set_to_none.unwrap_or(true) { ZeroGrad::SetToNone } else { ZeroGrad::Zero },
            data: self.data(raw.data.as_ref(), model.as_ref()),
            evaluation: raw.evaluation.as_ref().map(|evaluation| self.evaluation(evaluation, batch)),
            mistakes: self.mistakes(raw),
            allocator: self.allocator(raw.allocator.as_deref().unwrap_or_default()),
            memory_fraction: raw.memory_fraction.map(|share| self.real("memory_fraction", Some(share), 1.0)),
            parallel: self.parallel(raw),
            device: self.device(raw),
            model: model?,
        };
        self.check_attention(&job);
        self.check_recurrent(&job);
        self.check_cnn(&job);
        self.check_experts(&job);
        self.check_data(&job);
        self.check_parallel(&job);
        self.check_saving(&job);
        self.check_mistakes(&job);
        self.check_no_ranges(raw);
        Some(job)
    }

    /// Refuses a sweep, because a job is one recording.
    fn check_no_ranges(&mut self, raw: &RawJob) {
        if raw.sweep.is_some() {
            let hint = "record all of them with `snapscope sweep`, or remove the table";
            self.problem("sweep", "a config with ranges describes several recordings", hint);
        }
    }

    fn name(&mut self, raw: &RawJob) -> String {
        let RawModel { preset, family, .. } = raw.model.clone().unwrap_or_default();
        let name = raw.name.clone().or(preset).or(family).unwrap_or_default();
        if name.chars().count() > MOST_NAME_CHARACTERS || name.chars().any(char::is_control) {
            self.problem(
                "name",
                format!("a name must be one line of at most {MOST_NAME_CHARACTERS} characters"),
                "shorten it",
            );
        }
        name
    }

    /// Returns the tokens of a sample; 1 for models that read no sequences.
    fn sequence(&mut self, raw: Option<u64>, model: Option<&Model>) -> u64 {
        let Some(most) = model.and_then(Model::max_positions) else {
            if raw.is_some() && model.is_some() {
                self.problem("sequence", "this model reads no sequences", "remove it");
            }
            return 1;
        };
        let sequence = self.whole("sequence", raw, DEFAULT_SEQUENCE.min(most));
        if sequence > most {
            let message = format!("{sequence} tokens, but the model has only {most} positions");
            self.problem("sequence", message, format!("write at most {most}, or a larger `model.max_positions`"));
        }
        sequence
    }

    fn precision(&mut self, raw: &RawJob) -> Precision {
        let precision = self.choice("precision", raw.precision.as_deref(), Precision::Fp32, PRECISIONS);
        match (precision, raw.grad_scaler) {
            (Precision::Autocast(amp), Some(grad_scaler)) => Precision::Autocast(Amp { grad_scaler, ..amp }),
            (precision, Some(true)) => {
                let hint = "write precision = \"autocast-fp16\", or remove it";
                self.problem("grad_scaler", "a gradient scaler needs autocast", hint);
                precision
            }
            (precision, _) => precision,
        }
    }

    fn evaluation(&mut self, raw: &RawEvaluation, batch: u64) -> Evaluation {
        Evaluation {
            every: self.whole("evaluation.every", raw.every, 1),
            batches: self.whole("evaluation.batches", raw.batches, 1),
            batch: self.whole("evaluation.batch", raw.batch, batch),
            no_grad: raw.no_grad.unwrap_or(true),
        }
    }

    fn device(&mut self, raw: &RawJob) -> Device {
        let standard = Device::Virtual(Cards(vec![Card::default()]));
        match (raw.card.as_deref(), raw.device.as_deref()) {
            (Some(_), Some(_)) => {
                self.problem("device", "`card` selects a virtual GPU and `device` a real one", "keep one of them");
                standard
            }
            (Some(cards), None) => Cards::parse(cards).map(Device::Virtual).unwrap_or_else(|error| {
                self.problem("card", error.to_string(), "");
                standard
            }),
            (None, Some(device)) => cuda_index(device).map(Device::Cuda).unwrap_or_else(|| {
                let message = format!("`{}` is not a CUDA device", excerpt(device));
                self.problem("device", message, "write `cuda:0`, or `card` for a virtual GPU");
                standard
            }),
            (None, None) => standard,
        }
    }

    fn problem(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Problem::new(path, message, hint));
    }

    /// Returns a whole number within its limits.
    fn whole(&mut self, path: &str, raw: Option<u64>, default: u64) -> u64 {
        let Some(value) = raw else { return default };
        let limit = limits::of_whole(path);
        if (limit.least..=limit.most).contains(&value) {
            return value;
        }
        let (least, most) = (format::count(limit.least), format::count(limit.most));
        let because = if value > limit.most { limit.because } else { "" };
        let message = format!("{} is not between {least} and {most}", format::count(value));
        self.problem(path, message, because);
        default
    }

    /// Returns a real number within its limits.
    fn real(&mut self, path: &str, raw: Option<f64>, default: f64) -> f64 {
        let Some(value) = raw else { return default };
        let limit = limits::of_real(path);
        if (limit.least..=limit.most).contains(&value) {
            return value;
        }
        self.problem(path, format!("{value} is out of range"), format!("write a number {}", limit.words));
        default
    }

    /// Returns the value of one of a few words.
    fn choice<T: Copy>(&mut self, path: &str, raw: Option<&str>, default: T, names: Names<T>) -> T {
        let Some(word) = raw else { return default };
        if let Some((_, value)) = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            return *value;
        }
        let words = names.iter().map(|(name, _)| *name);
        let hint = did_you_mean(word, words.clone());
        let hint = hint.unwrap_or_else(|| format!("the possible values are {}", words.collect::<Vec<_>>().join(", ")));
        self.problem(path, format!("unknown value `{}`", excerpt(word)), hint);
        default
    }

    /// Returns true if a text is a single line of reasonable length, and reports a problem otherwise.
    fn is_one_line(&mut self, path: &str, text: &str) -> bool {
        let fits = text.chars().count() <= MOST_CHARACTERS && !text.chars().any(char::is_control);
        if !fits {
            self.problem(
                path,
                format!("the text must be one line of at most {MOST_CHARACTERS} characters"),
                "shorten it",
            );
        }
        fits
    }
}

/// Returns the index of a device such as `cuda:1`; `cuda` alone is index 0.
fn cuda_index(device: &str) -> Option<u32> {
    // PyTorch's own limit of device indices.
    const MOST: u32 = 127;
    match device.strip_prefix("cuda")? {
        "" => Some(0),
        rest => rest.strip_prefix(':')?.parse().ok().filter(|index| *index <= MOST),
    }
}

#[cfg(test)]
mod tests;
