//! Implementations of attention.

use super::names::Names;

/// Implementation of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// `scaled_dot_product_attention` with the backend that PyTorch picks for the card.
    Sdpa,
    /// `scaled_dot_product_attention` with flash attention only.
    Flash,
    /// `scaled_dot_product_attention` with memory-efficient attention only.
    Efficient,
    /// `scaled_dot_product_attention` with cuDNN attention only.
    Cudnn,
    /// `scaled_dot_product_attention` with matrix products only.
    Math,
    /// Matrix products and a softmax written out in the model, `eager` in Hugging Face.
    Eager,
}

pub(super) const ATTENTIONS: Names<Attention> = &[
    ("sdpa", Attention::Sdpa),
    ("flash", Attention::Flash),
    ("efficient", Attention::Efficient),
    ("cudnn", Attention::Cudnn),
    ("math", Attention::Math),
    ("eager", Attention::Eager),
];

/// Kernels of `scaled_dot_product_attention`, for models that can't write attention out.
pub(super) const SDPA_ATTENTIONS: Names<Attention> = &[
    ("sdpa", Attention::Sdpa),
    ("flash", Attention::Flash),
    ("efficient", Attention::Efficient),
    ("cudnn", Attention::Cudnn),
    ("math", Attention::Math),
];
