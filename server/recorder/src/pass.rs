//! A pass through a model: what the layers need to know besides their input.

use shared::job::Precision;
use tch::Tensor;

use crate::Result;
use crate::place::Phase;

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
}

impl Pass {
    /// Runs forward and loss of a batch: under autocast, where the job has it.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.precision {
            Precision::Autocast(amp) => autocast::run(amp, work),
            _ => work(),
        }
    }

    /// Runs a layer, so that its activations are dropped and computed again in backward where the job has it so.
    ///
    /// The layer must give the same output for the same inputs; it runs on another thread the second time.
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
        let pass = *self;
        let mut first = true;
        checkpoint::checkpoint(inputs, move |inputs| {
            if std::mem::take(&mut first) {
                return layer(inputs, &pass);
            }
            Phase::Recompute.run(|| pass.run(|| layer(inputs, &pass)))
        })
    }
}
