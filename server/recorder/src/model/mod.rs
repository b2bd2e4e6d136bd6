//! The models, each of which follows a Python implementation operation by operation.
//!
//! The parameter `builder` of a layer's constructor is the builder of the layer itself, not that of its parent.

mod bert;
mod cnn;
mod experts;
mod layer;
mod mlp;
mod network;
mod recurrent;
mod resnet;
mod transformer;
mod unet;
mod vit;

pub use bert::Bert;
pub use cnn::Cnn;
pub use mlp::Mlp;
pub use network::{Batch, Network, Output};
pub use recurrent::Rnn;
pub use resnet::ResNet;
pub(crate) use transformer::Stage;
pub use transformer::Transformer;
pub use unet::Unet;
pub use vit::Vit;

use shared::job;

use crate::Result;
use crate::builder::Builder;
use crate::parallel::pipeline;

/// Builds the model of a job on the device.
///
/// # Errors
///
/// Returns an error if memory runs out.
pub fn build(job: &job::Job, builder: &Builder) -> Result<Box<dyn Network>> {
    if let Some(stage) = pipeline(job, builder)? {
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
