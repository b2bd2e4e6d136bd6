//! Encoders with published sizes.

use super::super::activation::Activation;
use super::super::attention::Attention;
use super::super::encoder::{Bert, Encoder, Vit};
use super::super::model::Model;

/// Returns a model with the config of `google-bert/bert-…-uncased` on Hugging Face; these differ only in three sizes.
pub(super) fn bert(layers: u64, hidden: u64, heads: u64) -> Model {
    Model::Bert(Bert {
        encoder: encoder(layers, hidden, heads, 0.1),
        vocabulary: 30_522,
        max_positions: 512,
        token_types: 2,
    })
}

/// Returns a model with the config of `google/vit-…-patch16-224` on Hugging Face; these differ only in three sizes.
pub(super) fn vit(layers: u64, hidden: u64, heads: u64) -> Model {
    Model::Vit(Vit {
        encoder: encoder(layers, hidden, heads, 0.0),
        image_size: 224,
        patch_size: 16,
        classes: 1000,
        qkv_bias: true,
    })
}

const fn encoder(layers: u64, hidden: u64, heads: u64, dropout: f64) -> Encoder {
    Encoder {
        layers,
        hidden,
        intermediate: 4 * hidden,
        heads,
        norm_epsilon: 1e-12,
        activation: Activation::Gelu,
        residual_dropout: dropout,
        attention_dropout: dropout,
        attention: Attention::Sdpa,
    }
}
