//! Resolves a config to a job: fills in defaults, checks everything, and reports all problems at once.

mod cnn;
mod data;
mod kernels;
mod lora;
mod model;
mod optimizer;
mod parallel;
mod values;
mod work;

#[cfg(test)]
pub(super) use model::keys_of;

use std::ops::Deref;

use super::card::{Card, Cards};
use super::domain::{MOST_CHARACTERS, MOST_NAME_CHARACTERS};
use super::model::Model;
use super::nearest::did_you_mean;
use super::problem::{Problem, excerpt};
use super::raw::{EVALUATION, JOB, RawCheckpointing, RawJob, RawModel, Table};
use super::training::{Amp, Device, Evaluation, Precision, Training, ZeroGrad};
use foundation::allocator;
use foundation::base::markup::deceives;

/// Default number of steps: optimizer state and fragmentation have settled by the third.
pub(super) const DEFAULT_STEPS: u64 = 3;

/// Options of PyTorch 2.11's caching allocator.
const ALLOCATOR_OPTIONS: &[&str] = &[
    "expandable_segments",
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "garbage_collection_threshold",
    "roundup_power2_divisions",
    "large_segment_size_mb",
    "per_process_memory_fraction",
    "graph_capture_record_stream_reuse",
    "release_lock_on_cudamalloc",
    "pinned_use_cuda_host_register",
    "pinned_num_register_threads",
    "pinned_reserve_segment_size_mb",
    "pinned_use_background_threads",
    "backend",
];

/// Default number of tokens of a sample, if the model takes as many.
const DEFAULT_SEQUENCE: u64 = 1024;

/// A recording to make: valid, complete, and within the limits.
///
/// Only [`RawJob::resolve`] makes jobs, so that the config always resolves to the same job; to change one, change its
/// config.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    training: Training,
    config: RawJob,
}

impl Job {
    /// Returns the job as a config with every key written out.
    pub fn to_raw(&self) -> RawJob {
        self.config.clone()
    }

    /// Returns the job as the JSON document that the recorder reads; it resolves to the same job.
    pub fn to_json(&self) -> String {
        self.config.to_json()
    }
}

impl Deref for Job {
    type Target = Training;

    fn deref(&self) -> &Training {
        &self.training
    }
}

impl RawJob {
    /// Fills in every default and checks every limit.
    ///
    /// # Errors
    ///
    /// Returns all problems at once, each with its key and what to write instead.
    pub fn resolve(self) -> Result<Job, Vec<Problem>> {
        let mut resolver = Resolver::default();
        let job = resolver.job(&self);
        if let Some(job) = job.as_ref().filter(|_| resolver.problems.is_empty()) {
            resolver.check_work(job);
        }
        job.filter(|_| resolver.problems.is_empty()).ok_or(resolver.problems)
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
    fn job(&mut self, given: &RawJob) -> Option<Job> {
        let raw = &mut Table::new(given);
        let checkpointing = given.checkpointing.as_ref().is_some_and(RawCheckpointing::is_on);
        let model = self.model(raw, checkpointing);
        let batch = self.number(raw, &JOB.batch, 1);
        let sequence = self.sequence(raw, model.as_ref());
        let training = Training {
            name: self.name(raw),
            sequence,
            batch,
            steps: self.number(raw, &JOB.steps, DEFAULT_STEPS),
            accumulation: self.number(raw, &JOB.accumulation, 1),
            precision: self.precision(raw),
            optimizer: self.optimizer(raw),
            checkpointing,
            saving: self.saving(raw, model.as_ref(), sequence),
            lora: self.lora(raw, model.as_ref()),
            clip_grad_norm: self.optional(raw, &JOB.clip_grad_norm),
            keep_outputs: raw.flag(&JOB.keep_outputs, true),
            zero_grad: if raw.flag(&JOB.set_to_none, true) { ZeroGrad::SetToNone } else { ZeroGrad::Zero },
            data: self.data(raw, model.as_ref()),
            evaluation: self.evaluation(raw, batch),
            allocator: self.allocator(raw),
            memory_fraction: self.optional(raw, &JOB.memory_fraction),
            parallel: self.parallel(raw),
            device: self.device(raw),
            model: model?,
        };
        let job = Job { training, config: std::mem::take(&mut raw.settled) };
        self.check_attention(&job);
        self.check_recurrent(&job);
        self.check_cnn(&job);
        self.check_data(&job);
        self.check_parallel(&job);
        self.check_saving(&job);
        self.check_no_ranges(given);
        Some(job)
    }

    /// Refuses a sweep, because a job is one recording.
    fn check_no_ranges(&mut self, raw: &RawJob) {
        if raw.sweep.is_some() {
            let hint =
                "record all of them with `snapscope sweep` or as a job with the task `sweep`, or remove the table";
            self.problem("sweep", "a config with ranges describes several recordings", hint);
        }
    }

    fn name(&mut self, raw: &mut Table<'_, RawJob>) -> String {
        let RawModel { preset, family, .. } = raw.given.model.clone().unwrap_or_default();
        let name = raw.given(&JOB.name).cloned().or(preset).or(family).unwrap_or_default();
        let is_odd = |c: char| c.is_control() || deceives(c);
        if name.chars().count() > MOST_NAME_CHARACTERS || name.chars().any(is_odd) {
            let message = format!("a name must be one line of at most {MOST_NAME_CHARACTERS} visible characters");
            self.problem("name", message, "shorten it");
        }
        raw.settle(&JOB.name, name.clone());
        name
    }

    /// Returns the tokens of a sample; 1 for models that read no sequences.
    fn sequence(&mut self, raw: &mut Table<'_, RawJob>, model: Option<&Model>) -> u64 {
        let Some(most) = model.and_then(Model::max_positions) else {
            if raw.given(&JOB.sequence).is_some() && model.is_some() {
                self.problem("sequence", "this model reads no sequences", "remove it");
            }
            return 1;
        };
        let sequence = self.number(raw, &JOB.sequence, DEFAULT_SEQUENCE.min(most));
        if sequence > most {
            let message = format!("{sequence} tokens, but the model has only {most} positions");
            self.problem("sequence", message, format!("write at most {most}, or a larger `model.max_positions`"));
        }
        sequence
    }

    fn precision(&mut self, raw: &mut Table<'_, RawJob>) -> Precision {
        let precision = self.word(raw, &JOB.precision, Precision::Fp32);
        if let Precision::Autocast(amp) = precision {
            return Precision::Autocast(Amp { grad_scaler: raw.flag(&JOB.grad_scaler, amp.grad_scaler), ..amp });
        }
        if raw.given(&JOB.grad_scaler) == Some(&true) {
            let hint = "write precision = \"autocast-fp16\", or remove it";
            self.problem("grad_scaler", "a gradient scaler needs autocast", hint);
        }
        precision
    }

    fn evaluation(&mut self, job: &mut Table<'_, RawJob>, batch: u64) -> Option<Evaluation> {
        let mut raw = Table::new(job.given(&JOB.evaluation)?);
        let evaluation = Evaluation {
            every: self.number(&mut raw, &EVALUATION.every, 1),
            batches: self.number(&mut raw, &EVALUATION.batches, 1),
            batch: self.number(&mut raw, &EVALUATION.batch, batch),
            no_grad: raw.flag(&EVALUATION.no_grad, true),
        };
        job.settle(&JOB.evaluation, raw.settled);
        Some(evaluation)
    }

    fn allocator(&mut self, raw: &mut Table<'_, RawJob>) -> String {
        let text = raw.given(&JOB.allocator).map_or("", String::as_str);
        if text.chars().count() <= MOST_CHARACTERS && !text.chars().any(char::is_control) {
            allocator::options(text).for_each(|option| self.allocator_option(option.trim()));
        } else {
            let message = format!("the text must be one line of at most {MOST_CHARACTERS} characters");
            self.problem("allocator", message, "shorten it");
        }
        raw.settle(&JOB.allocator, text.trim().to_owned());
        text.trim().to_owned()
    }

    fn allocator_option(&mut self, option: &str) {
        let (key, value) = option.split_once(':').map_or((option, ""), |(key, value)| (key.trim(), value.trim()));
        if !ALLOCATOR_OPTIONS.contains(&key) {
            let hint = did_you_mean(key, ALLOCATOR_OPTIONS.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("the options are {}", ALLOCATOR_OPTIONS.join(", ")));
            self.problem("allocator", format!("the allocator has no option `{}`", excerpt(key)), hint);
        } else if value.is_empty() {
            self.problem("allocator", format!("`{key}` has no value"), format!("write `{key}:value`"));
        } else if key == "backend" && value != "native" {
            let hint = "remove `backend`";
            self.problem("allocator", "only PyTorch's native backend records its memory", hint);
        } else if key == "expandable_segments" && !["True", "False"].contains(&value) {
            let message = format!("`expandable_segments` must be `True` or `False`, not `{}`", excerpt(value));
            self.problem("allocator", message, "start it with a capital letter");
        }
    }

    fn device(&mut self, raw: &mut Table<'_, RawJob>) -> Device {
        let standard = Device::Virtual(Cards(vec![Card::default()]));
        let device = match (raw.given(&JOB.card), raw.given(&JOB.device)) {
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
        };
        let key = if let Device::Virtual(_) = device { &JOB.card } else { &JOB.device };
        raw.settle(key, device.to_string());
        device
    }

    fn problem(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Problem::new(path, message, hint));
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
