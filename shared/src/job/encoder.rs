//! Encoders: transformers in which every token attends to all others.

use super::activation::Activation;
use super::attention::Attention;
use super::names::Names;

/// A masked language model on random tokens: Hugging Face's `BertForMaskedLM`, with a tied head.
#[derive(Debug, Clone, PartialEq)]
pub struct Bert {
    pub encoder: Encoder,
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// Longest sequence that the model has positions for, in tokens.
    pub max_positions: u64,
    /// Number of token types, such as first and second sentence.
    pub token_types: u64,
}

/// A classifier of random images: Hugging Face's `ViTForImageClassification`.
#[derive(Debug, Clone, PartialEq)]
pub struct Vit {
    pub encoder: Encoder,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// Height and width of a patch, in pixels; at most those of the image.
    pub patch_size: u64,
    /// Classes of the last linear layer.
    pub classes: u64,
    /// True if queries, keys and values have a bias.
    pub qkv_bias: bool,
}

/// Layers that BERT and ViT have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder {
    /// Number of layers.
    pub layers: u64,
    /// Features of a token between the layers; a multiple of `heads`.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    pub heads: u64,
    pub norm_epsilon: f64,
    /// Activation of the feed-forward network; never one with a gate.
    pub activation: Activation,
    /// Dropout probability of the sum of the embeddings and of what is added to the residual stream.
    pub residual_dropout: f64,
    /// Dropout probability of the attention probabilities.
    pub attention_dropout: f64,
    pub attention: Attention,
}

impl Encoder {
    pub const fn head_dim(&self) -> u64 {
        self.hidden / self.heads
    }
}

impl Vit {
    /// Returns the number of patches in an image; a remainder at its edges is ignored.
    pub const fn patches(&self) -> u64 {
        let side = self.image_size / self.patch_size;
        side * side
    }

    /// Returns the number of tokens for an image: its patches and the class token.
    pub const fn tokens(&self) -> u64 {
        self.patches() + 1
    }
}

/// Activations of encoders, which have no gate.
pub(super) const ENCODER_ACTIVATIONS: Names<Activation> = &[
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluNew),
    ("gelu_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
];
