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
        family: String as Names<Family> = FAMILIES,
        /// Implementation: `gpt2` or `llama` for a transformer, `torchvision` or `transformers` for a residual network.
        architecture: String,
        cell: String as Names<RecurrentCell> = CELLS,
        /// Features of an input vector, or channels of the images of a `cnn`.
        input: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Features between layers; for an `mlp` those of each hidden layer.
        hidden: Sizes as Whole = whole(1, 1 << 18, NO_MODEL),
        layers: Layers as Whole = whole(1, 1024, NO_MODEL),
        classes: u64 as Whole = whole(2, 1 << 22, NO_MODEL),
        depth: u64,
        image_size: u64 as Whole = whole(32, 4096, "a batch would not fit in host memory"),
        channels_last: bool,
        vocabulary: u64 as Whole = whole(2, 1 << 22, NO_MODEL),
        embedding: u64 as Whole = whole(1, 1 << 18, NO_MODEL),
        intermediate: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        heads: u64 as Whole = whole(1, 4096, NO_MODEL),
        kv_heads: u64 as Whole = whole(1, 4096, NO_MODEL),
        head_dim: u64 as Whole = whole(1, 4096, NO_MODEL),
        max_positions: u64 as Whole = whole(1, 1 << 24, NO_MODEL),
        token_types: u64 as Whole = whole(1, 1024, NO_MODEL),
        norm: String as Names<bool> = NORMS,
        norm_epsilon: f64 as Real = real(0.0, 1.0, SHARE),
        positions: String as Names<bool> = POSITIONS,
        rope_theta: f64 as Real = real(1.0, 1e12, "from 1 to 10^12"),
        activation: String,
        bias: bool,
        /// True if all linear layers of attention have a bias; `qkv_bias` overrides it for queries, keys and values.
        attention_bias: bool,
        qkv_bias: bool,
        mlp_bias: bool,
        tied_head: bool,
        /// Dropout probability of all places that have dropout.
        dropout: f64 as Real = real(0.0, 1.0, SHARE),
        embedding_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        attention_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        residual_dropout: f64 as Real = real(0.0, 1.0, SHARE),
        carry_hidden: String as Names<CarryHidden> = CARRIES,
        attention: String as Names<Attention> = ATTENTIONS,
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
