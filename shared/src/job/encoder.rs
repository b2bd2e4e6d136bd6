//! Encoders: transformers whose every token reads all others.

use super::model::{Activation, Attention};

/// A masked language model on random tokens: Hugging Face's `BertForMaskedLM`, whose head is tied.
#[derive(Debug, Clone, PartialEq)]
pub struct Bert {
    /// The layers.
    pub encoder: Encoder,
    /// Tokens of the vocabulary.
    pub vocabulary: u64,
    /// Longest sequence that positions exist for, in tokens.
    pub max_positions: u64,
    /// Kinds of tokens, such as those of a first and a second sentence.
    pub token_types: u64,
}

/// A classifier of random images: Hugging Face's `ViTForImageClassification`.
#[derive(Debug, Clone, PartialEq)]
pub struct Vit {
    /// The layers.
    pub encoder: Encoder,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// Height and width of a patch, in pixels; at most the image's.
    pub patch_size: u64,
    /// Classes of the last linear layer.
    pub classes: u64,
    /// Whether queries, keys and values have a bias.
    pub qkv_bias: bool,
}

/// The layers that encoders have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder {
    /// How many layers.
    pub layers: u64,
    /// Features of a token between the layers; a multiple of `heads`.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    /// Attention heads.
    pub heads: u64,
    /// The epsilon of the layer norms.
    pub norm_epsilon: f64,
    /// The feed-forward network's activation; none has a gate.
    pub activation: Activation,
    /// Probability of dropout of the embeddings' sum, and of what is added to the residual stream.
    pub residual_dropout: f64,
    /// Probability of dropout of attention probabilities.
    pub attention_dropout: f64,
    /// Which kernels compute attention.
    pub attention: Attention,
}

impl Encoder {
    /// Features of a head.
    pub const fn head_dim(&self) -> u64 {
        self.hidden / self.heads
    }
}

impl Vit {
    /// Patches of an image; what is left over at its edges is not seen.
    pub const fn patches(&self) -> u64 {
        let side = self.image_size / self.patch_size;
        side * side
    }

    /// Tokens of an image: its patches, and the one that is classified.
    pub const fn tokens(&self) -> u64 {
        self.patches() + 1
    }
}
