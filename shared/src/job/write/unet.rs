//! Writes U-Nets with every key.

use super::super::attention::SDPA_ATTENTIONS;
use super::super::cnn::Layers;
use super::super::raw::{RawModel, Sizes};
use super::super::unet::Unet;
use super::word;

pub(super) fn raw_unet(unet: &Unet) -> RawModel {
    RawModel {
        channels: Some(Sizes::Each(unet.channels.clone())),
        layers: Some(Layers::Count(unet.layers)),
        image_size: Some(unet.image_size),
        heads: Some(unet.heads),
        cross_attention_dim: Some(unet.cross_attention_dim),
        text_tokens: Some(unet.text_tokens),
        attention: word(SDPA_ATTENTIONS, &unet.attention),
        ..RawModel::default()
    }
}
