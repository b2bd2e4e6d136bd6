//! The training config: what a recording runs.
//!
//! A person writes a [`RawJob`] (TOML, YAML or JSON) or brings a Hugging Face config; [`RawJob::resolve`] turns it
//! into a [`Job`], in which every default is filled in and every limit is checked.
//! Nothing here knows PyTorch: the recorder carries a job out.

mod card;
mod model;
mod nearest;
mod size;
mod training;

pub use card::{Card, CardError, Cards, ComputeCapability};
pub use model::{
    Activation, Attention, Dropout, Mlp, MlpActivation, Model, Norm, Positions, ResNet, ResNetDepth, Transformer,
    TransformerFamily,
};
pub use training::{
    Amp, Device, Evaluation, Job, Optimizer, OptimizerImplementation, OptimizerKind, Precision, ZeroGrad,
};
