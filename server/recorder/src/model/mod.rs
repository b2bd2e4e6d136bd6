//! The models, each following a Python implementation operation by operation.

mod bert;
mod cnn;
mod experts;
mod layer;
mod mlp;
mod recurrent;
mod resnet;
mod transformer;
mod unet;
mod vit;

pub use bert::Bert;
pub use cnn::Cnn;
pub use mlp::Mlp;
pub use recurrent::Rnn;
pub use resnet::ResNet;
pub(crate) use transformer::Stage;
pub use transformer::Transformer;
pub use unet::Unet;
pub use vit::Vit;

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::parallel;
use crate::pass::Pass;

/// The tensors of a batch by name, in host memory or on the device.
pub type Batch = Vec<(&'static str, Tensor)>;

/// What a forward pass leaves. The fields are freed in their order, which is Python's.
#[derive(Debug)]
pub struct Output {
    /// What lives until the loss is there, since Hugging Face's models compute it before they return; then the loss,
    /// where the output holds it.
    pub locals: Vec<Tensor>,
    /// What the loss is computed from.
    pub logits: Tensor,
    /// What else Python's output object holds, such as a key-value cache.
    pub kept: Vec<Tensor>,
}

/// A model, its data, and its loss.
pub trait Network {
    /// Random samples in host memory.
    ///
    /// # Errors
    ///
    /// There is no memory for them.
    fn batch(&self, samples: i64) -> Result<Batch>;

    /// The forward pass; each layer runs in its module.
    ///
    /// # Errors
    ///
    /// An operation fails.
    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output>;

    /// The loss of an output, a scalar.
    ///
    /// # Errors
    ///
    /// An operation fails.
    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor>;

    /// What the caller gets once the loss is there; a wrapper may hand on copies.
    ///
    /// # Errors
    ///
    /// There is no memory for them.
    fn hand_on(&self, _output: &mut Output, loss: Tensor) -> Result<Tensor> {
        Ok(loss)
    }

    /// Forward and backward of a whole batch, where the model is a stage of a pipeline: what the script keeps of it.
    fn step(&self, _batch: &Batch, _samples: i64, _pass: &Pass) -> Option<Result<Option<Output>>> {
        None
    }

    /// Whether Python's output object holds the loss too, as Hugging Face's does.
    fn output_holds_loss(&self) -> bool {
        false
    }
}

/// Builds the model of a job on the device.
///
/// # Errors
///
/// There is no memory for it.
pub fn build(job: &job::Job, builder: &Builder) -> Result<Box<dyn Network>> {
    if let Some(stage) = parallel::pipeline(job, builder)? {
        return Ok(stage);
    }
    match &job.model {
        job::Model::Mlp(config) => Ok(Box::new(Mlp::new(config, builder)?)),
        job::Model::Transformer(config) => Ok(Box::new(Transformer::new(config, job, builder)?)),
        job::Model::ResNet(config) => Ok(Box::new(ResNet::new(config, builder)?)),
        job::Model::Bert(config) => Ok(Box::new(Bert::new(config, job.sequence, builder)?)),
        job::Model::Vit(config) => Ok(Box::new(Vit::new(config, builder)?)),
        job::Model::Unet(config) => Ok(Box::new(Unet::new(config, job, builder)?)),
        job::Model::Cnn(config) => Ok(Box::new(Cnn::new(config, builder)?)),
        job::Model::Rnn(config) => Ok(Box::new(Rnn::new(config, job.sequence, builder)?)),
    }
}
