//! U-Nets with published sizes.

use super::super::attention::Attention;
use super::super::model::Model;
use super::super::unet::Unet;

/// Returns the model of `stable-diffusion-v1-5/stable-diffusion-v1-5` on Hugging Face.
pub(super) fn stable_diffusion() -> Model {
    Model::Unet(Unet {
        channels: vec![320, 640, 1280, 1280],
        layers: 2,
        image_size: 512,
        heads: 8,
        cross_attention_dim: 768,
        text_tokens: 77,
        attention: Attention::Sdpa,
    })
}
