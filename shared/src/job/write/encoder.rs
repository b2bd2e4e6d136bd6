//! Writes encoders with every key.

use super::super::attention::ATTENTIONS;
use super::super::cnn::Layers;
use super::super::encoder::{Bert, ENCODER_ACTIVATIONS, Encoder, Vit};
use super::super::raw::{RawModel, Sizes};
use super::word;

pub(super) fn raw_bert(bert: &Bert) -> RawModel {
    RawModel {
        vocabulary: Some(bert.vocabulary),
        max_positions: Some(bert.max_positions),
        token_types: Some(bert.token_types),
        ..raw_encoder(&bert.encoder)
    }
}

pub(super) fn raw_vit(vit: &Vit) -> RawModel {
    RawModel {
        image_size: Some(vit.image_size),
        patch_size: Some(vit.patch_size),
        classes: Some(vit.classes),
        qkv_bias: Some(vit.qkv_bias),
        ..raw_encoder(&vit.encoder)
    }
}

fn raw_encoder(encoder: &Encoder) -> RawModel {
    RawModel {
        layers: Some(Layers::Count(encoder.layers)),
        hidden: Some(Sizes::One(encoder.hidden)),
        intermediate: Some(encoder.intermediate),
        heads: Some(encoder.heads),
        norm_epsilon: Some(encoder.norm_epsilon),
        activation: word(ENCODER_ACTIVATIONS, &encoder.activation),
        residual_dropout: Some(encoder.residual_dropout),
        attention_dropout: Some(encoder.attention_dropout),
        attention: word(ATTENTIONS, &encoder.attention),
        ..RawModel::default()
    }
}
