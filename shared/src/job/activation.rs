//! Activations of feed-forward networks.

use super::names::Names;

/// Activation of a feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Tanh approximation of GELU written out in eight operations, `gelu_new` in Hugging Face.
    GeluNew,
    /// `torch.nn.functional.gelu`, one operation.
    Gelu,
    /// `torch.nn.functional.gelu(approximate="tanh")`, one operation.
    GeluTanh,
    /// `torch.nn.functional.relu`.
    Relu,
    /// SiLU of a gate times a linear layer.
    SwiGlu,
}

pub(super) const ACTIVATIONS: Names<Activation> = &[
    ("gelu_new", Activation::GeluNew),
    ("gelu", Activation::Gelu),
    ("gelu_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
    ("swiglu", Activation::SwiGlu),
];
