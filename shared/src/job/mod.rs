//! The training config: which model a recording trains, how, and on what.
//!
//! A person writes a [`RawJob`] (TOML, YAML or JSON) or brings a Hugging Face config; [`RawJob::resolve`] turns it into
//! a [`Job`], in which every default is filled in and every limit is checked.
//! Nothing here calls PyTorch: the recorder runs the job.

mod activation;
mod attention;
mod card;
mod cnn;
mod data;
mod ddp;
mod document;
mod domain;
mod encoder;
mod experts;
mod family;
mod fsdp;
mod huggingface;
mod key;
mod limits;
mod lora;
pub mod messages;
mod model;
mod names;
mod nearest;
mod overrides;
mod parallel;
mod parameters;
mod pipeline;
mod preset;
mod problem;
mod rank;
mod raw;
mod reader;
mod recurrent;
#[cfg(test)]
mod reference;
mod resolve;
mod resolved;
mod saving;
mod schema;
mod sweep;
mod training;
mod unet;
mod values;

pub use activation::Activation;
pub use attention::Attention;
pub use card::{Card, CardError, Cards, ComputeCapability};
pub use cnn::{Cnn, CnnLayer, Conv, Features, Layers, Window};
pub use data::{BatchSize, Data, Normalize, Spread};
pub use ddp::Ddp;
pub use document::{Format, KeyPlaces};
pub use encoder::{Bert, Encoder, Vit};
pub use experts::{Experts, ExpertsImplementation, RawRouting, Routing};
pub use fsdp::Fsdp;
pub use huggingface::{Import, ImportNote, Source};
pub use lora::{Lora, LoraTarget};
pub use model::{
    Dropout, Mlp, MlpActivation, Model, Norm, Positions, ResNet, ResNetDepth, ResNetFamily, Transformer,
    TransformerFamily,
};
pub use overrides::Overrides;
pub use parallel::{Gather, Parallel};
pub use pipeline::{Pipeline, Schedule};
pub use problem::{Place, Problem};
pub use rank::Rank;
pub use raw::{
    Betas, RawCheckpointing, RawData, RawEvaluation, RawJob, RawLora, RawLoss, RawModel, RawOptimizer, RawParallel,
    RawSweep, Sizes,
};
pub use recurrent::{CarryHidden, RecurrentCell, Rnn};
pub use resolved::Job;
pub use saving::{Keep, OptimizerStorage, Saving};
pub use schema::{bounds, words};
pub use sweep::{Axis, Combination, Sweep};
pub use training::{
    Amp, Device, Evaluation, Optimizer, OptimizerImplementation, OptimizerKind, Precision, Training, ZeroGrad,
};
pub use unet::Unet;
pub use values::{MOST_COMBINATIONS, Values, Word};
