//! The layers that models are made of, as `torch.nn` has them.

mod dropout;
mod linear;

pub(super) use dropout::Dropout;
pub(super) use linear::Linear;
