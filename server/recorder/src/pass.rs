//! A pass through a model: what the layers need to know besides their input.

use shared::job::{Job, Keep, Mistake, Precision, Saving};
use tch::Tensor;

use crate::Result;
use crate::place::Phase;
use crate::saving;

pub(crate) mod autocast;
mod checkpoint;

pub use checkpoint::Shared;

/// What the layers of a model need to know besides their input.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Whether dropout drops and batch norm counts.
    pub training: bool,
    /// Whether layers drop their activations and compute them again in backward.
    pub checkpointing: bool,
    /// The number formats.
    pub precision: Precision,
    /// Which layers checkpointing takes, what it keeps, and what waits on the host.
    pub saving: Saving,
    /// Whether the loss is computed behind the region of autocast.
    pub loss_outside: bool,
}

impl Pass {
    /// The pass of a training step.
    pub fn of_training(job: &Job) -> Self {
        Self {
            training: true,
            checkpointing: job.checkpointing,
            precision: job.precision,
            saving: job.saving,
            loss_outside: job.mistakes.contains(&Mistake::LossOutsideAutocast),
        }
    }

    /// The pass of an evaluation.
    pub fn of_evaluation(job: &Job) -> Self {
        Self { training: false, checkpointing: false, ..Self::of_training(job) }
    }

    /// The pass as the layer of this index, counted from 0, sees it: not every layer may be checkpointed.
    pub fn of_layer(&self, index: usize) -> Self {
        Self { checkpointing: self.checkpointing && self.saving.checkpoints(index as u64), ..*self }
    }

    /// Runs forward and loss of a batch: under autocast, and with what is saved on the host, where the job has it so.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.training && self.saving.offload_activations {
            return self.with_loss(|| saving::with_activations_on_host(work));
        }
        self.with_loss(work)
    }

    /// Runs the forward pass of a batch, which has a region of autocast of its own where the loss is outside.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn forward<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.loss_outside { self.in_its_formats(work) } else { work() }
    }

    /// Runs forward and loss under autocast, where the job has both in one region.
    fn with_loss<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.loss_outside { work() } else { self.in_its_formats(work) }
    }

    /// Runs `work` under autocast, where the job has it.
    fn in_its_formats<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.precision {
            Precision::Autocast(amp) => autocast::run(amp, work),
            _ => work(),
        }
    }

    /// Runs a layer, so that its activations are dropped and computed again in backward where the job has it so.
    ///
    /// The layer must give the same output for the same inputs; it runs on another thread the second time.
    /// In Python only the first input is a positional argument, which waits for backward where activations do.
    ///
    /// # Errors
    ///
    /// Those of `layer`.
    pub fn layer<L>(&self, inputs: &[&Tensor], layer: L) -> Result<Tensor>
    where
        L: Fn(&[&Tensor], &Self) -> Result<Tensor> + Send + 'static,
    {
        if !(self.checkpointing && self.training) {
            return layer(inputs, self);
        }
        self.checkpoint(inputs, self.saving.keep, 1, layer)
    }

    /// Runs a part of the model that is checkpointed whatever the job says of its layers; see [`Pass::layer`].
    ///
    /// # Errors
    ///
    /// Those of `part`.
    pub fn again<L>(&self, inputs: &[&Tensor], part: L) -> Result<Tensor>
    where
        L: Fn(&[&Tensor], &Self) -> Result<Tensor> + Send + 'static,
    {
        self.checkpoint(inputs, Keep::Nothing, inputs.len(), part)
    }

    fn checkpoint<L>(&self, inputs: &[&Tensor], keep: Keep, saved: usize, layer: L) -> Result<Tensor>
    where
        L: Fn(&[&Tensor], &Self) -> Result<Tensor> + Send + 'static,
    {
        let pass = *self;
        let mut first = true;
        checkpoint::checkpoint(inputs, keep, saved, move |inputs| {
            if std::mem::take(&mut first) {
                return layer(inputs, &pass);
            }
            Phase::Recompute.run(|| pass.in_its_formats(|| layer(inputs, &pass)))
        })
    }
}
