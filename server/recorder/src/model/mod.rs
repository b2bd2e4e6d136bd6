//! The models, each of which follows a Python implementation operation by operation.
//!
//! The parameter `builder` of a layer's constructor is the builder of the layer itself, not that of its parent.

mod bert;
mod cnn;
mod layer;
mod mlp;
mod network;
mod recurrent;
mod resnet;
mod transformer;

pub use bert::Bert;
pub use cnn::Cnn;
pub use mlp::Mlp;
pub use network::{Batch, Network, Output};
pub use recurrent::Rnn;
pub use resnet::ResNet;
pub use transformer::Transformer;

use shared::job;

use crate::Result;
use crate::builder::Builder;

/// Builds the model of a job on the device.
pub fn build(job: &job::Job, builder: &Builder) -> Result<Box<dyn Network>> {
    match &job.model {
        job::Model::Mlp(config) => Ok(Box::new(Mlp::new(config, builder)?)),
        job::Model::Transformer(config) => Ok(Box::new(Transformer::new(config, job, builder)?)),
        job::Model::ResNet(config) => Ok(Box::new(ResNet::new(config, builder)?)),
        job::Model::Bert(config) => Ok(Box::new(Bert::new(config, job.sequence, builder)?)),
        job::Model::Cnn(config) => Ok(Box::new(Cnn::new(config, builder)?)),
        job::Model::Rnn(config) => Ok(Box::new(Rnn::new(config, job.sequence, builder)?)),
    }
}
