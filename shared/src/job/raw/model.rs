//! The model of a training config as it is written.

use serde::Serialize;

use super::super::cnn::Layers;
use super::super::document::Value;
use super::super::experts::RawRouting;
use super::super::reader::{FromValue, Reader};

raw_table! {
    /// The model of a [`RawJob`](super::RawJob).
    RawModel {
        /// A model whose sizes are known; further keys override them.
        preset: String,
        /// `mlp`, `resnet`, `transformer`, `bert`, `unet`, `vit` or `rnn`.
        family: String,
        /// Whose transformer: `gpt2` or `llama`.
        architecture: String,
        /// What recurrent layers are made of: `lstm` or `gru`.
        cell: String,
        /// Features of an input.
        input: u64,
        /// Features between layers; of each hidden layer for an `mlp`.
        hidden: Sizes,
        /// How many layers, or each of them.
        layers: Layers,
        /// Classes of the output.
        classes: u64,
        /// Layers of a residual network.
        depth: u64,
        /// Height and width of the images.
        image_size: u64,
        /// Height and width of a patch.
        patch_size: u64,
        /// Whether images and weights are in `channels_last`.
        channels_last: bool,
        /// Channels of each level.
        channels: Sizes,
        /// Features of a text token.
        cross_attention_dim: u64,
        /// Tokens of a text.
        text_tokens: u64,
        /// Tokens of the vocabulary.
        vocabulary: u64,
        /// Features of an embedded token, where the layers have others.
        embedding: u64,
        /// Features inside the feed-forward network.
        intermediate: u64,
        /// Feed-forward networks of a layer, of which each token takes a few.
        experts: u64,
        /// Experts that compute a token.
        experts_per_token: u64,
        /// `grouped_mm` or `eager`.
        experts_implementation: String,
        /// Which tokens go to which expert: `even`, or shares.
        routing: RawRouting,
        /// Attention heads of the queries.
        heads: u64,
        /// Attention heads of keys and values.
        kv_heads: u64,
        /// Features of a head.
        head_dim: u64,
        /// Longest sequence that positions exist for.
        max_positions: u64,
        /// Kinds of tokens.
        token_types: u64,
        /// `layer_norm` or `rms_norm`.
        norm: String,
        /// What keeps a norm's division finite.
        norm_epsilon: f64,
        /// `learned` or `rotary`.
        positions: String,
        /// The base of rotary positions.
        rope_theta: f64,
        /// The function between linear layers.
        activation: String,
        /// Whether an `mlp`'s linear layers have a bias.
        bias: bool,
        /// Whether attention's linear layers have a bias.
        attention_bias: bool,
        /// Whether queries, keys and values have a bias.
        qkv_bias: bool,
        /// Whether the feed-forward network's linear layers have a bias.
        mlp_bias: bool,
        /// Whether the head uses the token embedding's weights.
        tied_head: bool,
        /// Probability of dropout, everywhere.
        dropout: f64,
        /// Probability of dropout after the embeddings.
        embedding_dropout: f64,
        /// Probability of dropout of attention probabilities.
        attention_dropout: f64,
        /// Probability of dropout of what is added to the residual stream.
        residual_dropout: f64,
        /// What the hidden state is when a batch begins: `detach` or `none`.
        carry_hidden: String,
        /// Which kernels compute attention.
        attention: String,
        /// Whether the forward pass fills a key-value cache.
        use_cache: bool,
    }
}

/// One size, or one for each layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Sizes {
    /// The same for all.
    One(u64),
    /// First to last.
    Each(Vec<u64>),
}

impl FromValue for RawModel {
    const EXPECTED: &str = "a preset's name or a table";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(preset) => Some(Self { preset: Some(preset.clone()), ..Self::default() }),
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for Sizes {
    const EXPECTED: &str = "a whole number or a list of them";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) => {
                items.iter().map(|item| u64::from_value(item, reader)).collect::<Option<_>>().map(Self::Each)
            }
            one => u64::from_value(one, reader).map(Self::One),
        }
    }
}
