//! The layers that models consist of, as `torch.nn` has them.

mod attention;
mod conv;
mod linear;
mod simple;

pub(super) use attention::{Attended, AttentionKernel, split_heads};
pub(super) use conv::{BatchNorm2d, Conv2d, Layout, images};
pub(super) use linear::{Adapter, Embedding, INITIALIZER_RANGE, Linear};
pub(super) use simple::{Activation, CrossEntropy, Dropout, Norm};
