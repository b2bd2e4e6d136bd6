//! The training config: which model a recording trains, how, and on what.
//!
//! A person writes a [`RawJob`] (TOML, YAML or JSON) or brings a Hugging Face config; [`RawJob::resolve`] turns it into
//! a [`Job`], in which every default is filled in and every limit is checked.
//! Nothing here calls PyTorch: the recorder runs the job.

#[macro_use]
mod domain;

mod batches;
mod card;
mod cnn;
mod data;
mod document;
mod huggingface;
mod lora;
pub mod messages;
mod model;
mod nearest;
mod parallel;
mod parameters;
mod preset;
mod problem;
mod raw;
mod reader;
mod resolve;
mod sweep;
mod training;
mod transformer;
mod values;

pub use batches::BatchSize;
pub use card::{Card, CardError, Cards, ComputeCapability};
pub use cnn::{Cnn, CnnLayer, Conv, Features, Layers, Window};
pub use data::{Data, Normalize, Spread};
pub use document::{Format, KeyPlaces};
pub use huggingface::{Import, ImportNote, Source};
pub use lora::{Lora, LoraTarget};
pub use model::{Bert, CarryHidden, Mlp, MlpActivation, Model, RecurrentCell, ResNet, ResNetDepth, ResNetFamily, Rnn};
pub use parallel::{Ddp, Fsdp, Gather, Parallel, Rank};
pub use problem::{Place, Problem};
pub use raw::{
    Betas, Overrides, RawCheckpointing, RawData, RawEvaluation, RawJob, RawLora, RawLoss, RawModel, RawOptimizer,
    RawParallel, RawSelected, RawSweep, Sizes, bounds, words,
};
pub use resolve::Job;
pub use sweep::{Axis, Combination, Sweep};
pub use training::{
    Amp, Device, Evaluation, Keep, Optimizer, OptimizerImplementation, OptimizerKind, OptimizerStorage, Precision,
    Saving, Training, ZeroGrad,
};
pub use transformer::{Activation, Attention, Dropout, Norm, Positions, Transformer, TransformerFamily};
pub use values::{MOST_COMBINATIONS, Values, Word};

#[cfg(test)]
mod tests;
