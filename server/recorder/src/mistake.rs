//! What a script with mistakes does beyond the plain loop, and what it keeps.

use shared::job::Mistake;
use tch::Tensor;

use crate::model::{Batch, Output};
use crate::optimizer::Optimizer;
use crate::{Result, shim};

/// The mistakes of a job, and what they have kept so far: lists of a script that only grow.
#[derive(Debug)]
pub struct Mistakes {
    made: Vec<Mistake>,
    kept: Vec<Tensor>,
}

impl Mistakes {
    /// These mistakes, with nothing kept yet.
    pub fn new(made: &[Mistake]) -> Self {
        Self { made: made.to_vec(), kept: Vec::new() }
    }

    /// Whether the script makes a mistake.
    pub fn make(&self, mistake: Mistake) -> bool {
        self.made.contains(&mistake)
    }

    /// After a batch is on the device.
    pub fn see_batch(&mut self, batch: &Batch) {
        if self.make(Mistake::KeepBatches) {
            self.keep(batch.iter().map(|(_, tensor)| tensor));
        }
    }

    /// After the loss is there: `loss` is what Python's output object holds of it.
    pub fn see_output(&mut self, output: &Output, loss: Option<&Tensor>) {
        if self.make(Mistake::KeepOutputs) {
            self.keep([&output.logits].into_iter().chain(&output.kept).chain(loss));
        }
    }

    /// After a micro batch has its loss, before backward.
    pub fn see_loss(&mut self, loss: Option<&Tensor>) {
        if self.make(Mistake::KeepLosses) {
            self.keep(loss);
        }
    }

    /// After a batch of the evaluation.
    pub fn see_evaluation_loss(&mut self, loss: Option<&Tensor>) {
        if self.make(Mistake::KeepEvaluationLosses) {
            self.keep(loss);
        }
    }

    /// After the weights have changed, before gradients are cleared.
    ///
    /// # Errors
    ///
    /// An operation fails.
    pub fn see_gradients(&mut self, optimizer: &Optimizer) -> Result<()> {
        if self.make(Mistake::KeepGradients) {
            self.kept.extend(optimizer.share_gradients()?);
        }
        Ok(())
    }

    /// `loss.backward()`, as the script calls it.
    ///
    /// # Errors
    ///
    /// An operation fails.
    pub fn backward(&self, loss: &Tensor) -> Result<()> {
        if self.make(Mistake::RetainGraph) { shim::backward_retaining(loss) } else { loss.f_backward() }
    }

    /// At the end of a step.
    ///
    /// # Errors
    ///
    /// CUDA fails.
    pub fn end_step(&self) -> Result<()> {
        if self.make(Mistake::EmptyCacheEveryStep) { shim::empty_cache() } else { Ok(()) }
    }

    fn keep<'a>(&mut self, tensors: impl IntoIterator<Item = &'a Tensor>) {
        self.kept.extend(tensors.into_iter().map(Tensor::shallow_clone));
    }
}
