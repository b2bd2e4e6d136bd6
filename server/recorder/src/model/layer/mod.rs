//! The layers that models consist of, as `torch.nn` has them.

mod activation;
mod attention;
mod batch_norm;
mod conv;
mod cross_entropy;
mod dropout;
mod embedding;
mod linear;
mod lora;
mod norm;

pub(super) use activation::Activation;
pub(super) use attention::{Attended, AttentionKernel, SelfAttention};
pub(super) use batch_norm::BatchNorm2d;
pub(super) use conv::{Conv2d, Conv2dShape, Layout};
pub(super) use cross_entropy::CrossEntropy;
pub(super) use dropout::Dropout;
pub(super) use embedding::Embedding;
pub(super) use linear::{INITIALIZER_RANGE, Linear};
pub(super) use lora::Adapter;
pub(super) use norm::Norm;
