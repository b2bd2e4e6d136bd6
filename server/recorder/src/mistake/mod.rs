//! Mistakes of a script: what it does beyond the plain loop, and the tensors that it keeps.

mod hooks;
mod node;

pub use hooks::{Hook, Inside};

use shared::job::Mistake;
use tch::{Device, Tensor};

use self::node::Node;
use crate::model::{Batch, Network, Output};
use crate::numbers::Numbers as _;
use crate::optimizer::Optimizer;
use crate::place::Module;
use crate::{Result, shim};

/// The device that the loss is computed on with [`Mistake::TargetOnOtherDevice`].
const OTHER_DEVICE: Device = Device::Cuda(1);

/// The mistakes of a job, and what they have kept so far in lists that only grow.
#[derive(Debug)]
pub struct Mistakes {
    made: Vec<Mistake>,
    kept: Vec<Tensor>,
    nodes: Vec<Node>,
    total: Option<Tensor>,
}

impl Mistakes {
    /// Creates the mistakes of a job, with nothing kept yet.
    pub fn new(made: &[Mistake]) -> Self {
        if made.contains(&Mistake::TargetOnOtherDevice) {
            shim::use_devices(2);
        }
        Self { made: made.to_vec(), kept: Vec::new(), nodes: Vec::new(), total: None }
    }

    /// Returns true if the script makes this mistake.
    pub fn make(&self, mistake: Mistake) -> bool {
        self.made.contains(&mistake)
    }

    /// Computes the loss of an output, on the second device if that is the mistake.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub fn loss(&self, network: &dyn Network, output: &Output, batch: &Batch) -> Result<Tensor> {
        if !self.make(Mistake::TargetOnOtherDevice) {
            return network.loss(output, batch);
        }
        let moved = |name, tensor: &Tensor| Module::named(name).run(|| tensor.f_to_device(OTHER_DEVICE));
        let logits = moved("logits", &output.logits)?;
        let mut batch: Batch = batch.iter().map(|(name, tensor)| (*name, tensor.shallow_clone())).collect();
        for (name, tensor) in batch.iter_mut().filter(|(name, _)| *name == "labels") {
            *tensor = moved(name, tensor)?;
        }
        network.loss(&Output { locals: Vec::new(), logits, kept: Vec::new() }, &batch)
    }

    /// Runs the mistakes after a batch was brought to the device.
    pub fn see_batch(&mut self, batch: &Batch) {
        if self.make(Mistake::KeepBatches) {
            self.keep(batch.iter().map(|(_, tensor)| tensor));
        }
    }

    /// Runs the mistakes after the loss was computed; `loss` is the loss that Python's output object holds, if any.
    pub fn see_output(&mut self, output: &Output, loss: Option<&Tensor>) {
        if self.make(Mistake::KeepOutputs) {
            self.keep([&output.logits].into_iter().chain(&output.kept).chain(loss));
        }
    }

    /// Runs the mistakes after a micro-batch has its loss, before backward.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub fn see_loss(&mut self, loss: &Tensor) -> Result<()> {
        if self.make(Mistake::KeepLosses) {
            self.keep([loss]);
        }
        if self.make(Mistake::KeepGradFns) {
            self.nodes.push(Node::of(loss)?);
        }
        if self.make(Mistake::SumLosses) {
            Module::named("total_loss").run(|| self.add_to_total(loss))?;
        }
        Ok(())
    }

    /// Computes `total_loss += loss`, starting at `total_loss = 0`.
    fn add_to_total(&mut self, loss: &Tensor) -> Result<()> {
        match &mut self.total {
            Some(total) => drop(total.f_add_(loss)?),
            None => self.total = Some(loss.add_number(0)?),
        }
        Ok(())
    }

    /// Runs the mistakes after a batch of an evaluation.
    pub fn see_evaluation_loss(&mut self, loss: Option<&Tensor>) {
        if self.make(Mistake::KeepEvaluationLosses) {
            self.keep(loss);
        }
    }

    /// Runs the mistakes after the optimizer's step, before gradients are cleared.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub fn see_gradients(&mut self, optimizer: &Optimizer) -> Result<()> {
        if self.make(Mistake::KeepGradients) {
            self.kept.extend(optimizer.share_gradients()?);
        }
        Ok(())
    }

    /// Runs `loss.backward()` as the script calls it.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub fn backward(&self, loss: &Tensor) -> Result<()> {
        if self.make(Mistake::RetainGraph) { shim::backward_retaining(loss) } else { loss.f_backward() }
    }

    /// Runs the mistakes at the end of a step.
    ///
    /// # Errors
    ///
    /// Returns an error if CUDA fails.
    pub fn end_step(&self) -> Result<()> {
        if self.make(Mistake::EmptyCacheEveryStep) { shim::empty_cache() } else { Ok(()) }
    }

    fn keep<'a>(&mut self, tensors: impl IntoIterator<Item = &'a Tensor>) {
        self.kept.extend(tensors.into_iter().map(Tensor::shallow_clone));
    }
}
