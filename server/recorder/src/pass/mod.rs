//! A pass through a model: the settings that layers need besides their input.

use shared::job::{Job, Keep, Precision, Saving};
use tch::Tensor;

use crate::Result;
use crate::place::Phase;
use crate::saving;

pub(crate) mod autocast;
mod checkpoint;

pub use checkpoint::Shared;

/// Settings of a forward pass that all layers read.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// True in training, where dropout is active and batch norm uses and counts batches.
    pub training: bool,
    /// True if layers drop their activations and recompute them in backward.
    pub checkpointing: bool,
    /// Dtypes of weights and activations.
    pub precision: Precision,
    /// Layers to checkpoint, results that these keep, and whether activations wait on the host.
    pub saving: Saving,
}

impl Pass {
    /// Returns the settings of a training step.
    pub fn of_training(job: &Job) -> Self {
        Self { training: true, checkpointing: job.checkpointing, precision: job.precision, saving: job.saving }
    }

    /// Returns the settings of an evaluation.
    pub fn of_evaluation(job: &Job) -> Self {
        Self { training: false, checkpointing: false, ..Self::of_training(job) }
    }

    /// Returns the settings of one layer, counted from 0, since checkpointing may take only every n-th layer.
    pub fn of_layer(&self, index: usize) -> Self {
        Self { checkpointing: self.checkpointing && self.saving.checkpoints(index as u64), ..*self }
    }

    /// Runs forward and loss of a batch, with autocast and activations on the host if the job has these.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.training && self.saving.offload_activations {
            return self.in_its_formats(|| saving::with_activations_on_host(work));
        }
        self.in_its_formats(work)
    }

    /// Runs `work` under autocast, if the job uses it.
    fn in_its_formats<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.precision {
            Precision::Autocast(amp) => autocast::run(amp, work),
            _ => work(),
        }
    }

    /// Runs a layer, and checkpoints it if the job says so: backward then recomputes its activations.
    ///
    /// The layer must give the same output for the same inputs; it runs on another thread the second time. In Python
    /// only the first input is a positional argument; it alone moves to the host if activations do.
    pub fn layer<L>(&self, inputs: &[&Tensor], layer: L) -> Result<Tensor>
    where
        L: Fn(&[&Tensor], &Self) -> Result<Tensor> + Send + 'static,
    {
        if !(self.checkpointing && self.training) {
            return layer(inputs, self);
        }
        self.checkpoint(inputs, self.saving.keep, 1, layer)
    }

    /// Runs a part of the model that is always checkpointed, whatever the job says; see [`Pass::layer`].
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
