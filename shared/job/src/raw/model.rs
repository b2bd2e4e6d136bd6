//! The model of a training config as written.

use serde::Serialize;

use super::super::cnn::Layers;
use super::super::document::Value;
use super::super::domain::{NO_MODEL, Names, Real, SHARE, Whole, real, whole};
use super::super::model::{CARRIES, CELLS, CarryHidden, FAMILIES, Family, RecurrentCell};
use super::super::preset::Presets;
use super::super::reader::{FromValue, Reader};
use super::super::transformer::{ATTENTIONS, Attention, NORMS, POSITIONS};

raw_table! {
    /// The model of a [`RawJob`](super::RawJob).
    RawModel(MODEL: ModelKeys) at "model.", expects "a preset name or a table" or preset {
        /// Name of a model with known sizes; further keys override them.
        preset: String as Presets = Presets,
        /// `mlp`, `resnet`, `transformer`, `bert`, `rnn` or `cnn`.
        family: String as Names<Family> = FAMILIES,
        /// Implementation: `gpt2` or `llama` for a transformer, `torchvision` or `transformers` for a residual network.
        architecture: String,
        /// Cell of recurrent layers: `lstm` or `gru`.
        cell: String as Names<RecurrentCell> = CELLS,
        /// Features of an input vector, or channels of the images of a `cnn`.
        input: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Features between layers; for an `mlp` those of each hidden layer.
        hidden: Sizes as Whole = whole(1, 1 << 18, NO_MODEL),
        /// Number of layers, or a list of them.
        layers: Layers as Whole = whole(1, 1024, NO_MODEL),
        classes: u64 as Whole = whole(2, 1 << 22, NO_MODEL),
        /// Depth of a residual network: 18, 34, 50, 101 or 152.
        depth: u64,
        /// Height and width of the images, in pixels.
        image_size: u64 as Whole = whole(32, 4096, "a batch would not fit in host memory"),
        /// True if images and weights are in `torch.channels_last`.
        channels_last: bool,
        /// Number of tokens in the vocabulary.
        vocabulary: u64 as Whole = whole(2, 1 << 22, NO_MODEL),
        /// Features of an embedded token, if the layers have another number.
        embedding: u64 as Whole = whole(1, 1 << 18, NO_MODEL),
        /// Features inside the feed-forward network.
        intermediate: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Attention heads of the queries.
        heads: u64 as Whole = whole(1, 4096, NO_MODEL),
        /// Attention heads of keys and values.
        kv_heads: u64 as Whole = whole(1, 4096, NO_MODEL),
        head_dim: u64 as Whole = whole(1, 4096, NO_MODEL),
        /// Longest sequence that the model has positions for, in tokens.
        max_positions: u64 as Whole = whole(1, 1 << 24, NO_MODEL),
        /// Number of token types, such as first and second sentence.
        token_types: u64 as Whole = whole(1, 1024, NO_MODEL),
        /// `layer_norm` or `rms_norm`.
        norm: String as Names<bool> = NORMS,
        /// Epsilon of the norms.
        norm_epsilon: f64 as Real = real(0.0, 1.0, SHARE),
        /// Position embedding: `learned` or `rotary`.
        positions: String as Names<bool> = POSITIONS,
        /// Base (theta) of rotary positions.
        rope_theta: f64 as Real = real(1.0, 1e12, "from 1 to 10^12"),
        activation: String,
        /// True if the linear layers of an `mlp` have a bias.
        bias: bool,
        /// True if all linear layers of attention have a bias; `qkv_bias` overrides it for queries, keys and values.
        attention_bias: bool,
        /// True if queries, keys and values have a bias.
        qkv_bias: bool,
        /// True if the linear layers of the feed-forward network have a bias.
        mlp_bias: bool,
        /// True if the head uses the weights of the token embedding.
        tied_head: bool,
        /// Dropout probability of all places that have dropout.
        dropout: f64 as Real = real(0.0, 1.0, SHARE),
        /// Dropout probability after the embeddings.
        embedding_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        /// Dropout probability of the attention probabilities.
        attention_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        /// Dropout probability of what is added to the residual stream.
        residual_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        /// Hidden state at the beginning of a batch: `detach` or `none`.
        carry_hidden: String as Names<CarryHidden> = CARRIES,
        /// Attention kernels: `sdpa`, `flash`, `efficient`, `cudnn`, `math` or `eager`.
        attention: String as Names<Attention> = ATTENTIONS,
        /// True if the forward pass fills a key-value cache.
        use_cache: bool,
    }
}

/// One size for all layers, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Sizes {
    One(u64),
    /// Sizes from the first layer to the last.
    Each(Vec<u64>),
}

impl FromValue for Sizes {
    const EXPECTED: &str = "a whole number or a list of whole numbers";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) => {
                items.iter().map(|item| u64::from_value(item, reader)).collect::<Option<_>>().map(Self::Each)
            }
            one => u64::from_value(one, reader).map(Self::One),
        }
    }
}
