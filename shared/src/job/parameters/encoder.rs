//! Counts the parameters of encoders.

use super::super::encoder::{Bert, Encoder, Vit};
use super::linear::linear;

/// Channels of an image.
const COLOURS: u64 = 3;

/// Counts the embeddings with their norm, the layers, and the head.
///
/// The decoder in the head is tied to the embeddings, so only its bias counts.
pub(super) fn of_bert(bert: &Bert) -> u128 {
    let Bert { encoder, vocabulary, max_positions, token_types } = bert;
    let hidden = encoder.hidden;
    let embeddings = u128::from(vocabulary + max_positions + token_types) * u128::from(hidden);
    let head = linear(hidden, hidden, true) + norm(hidden) + u128::from(*vocabulary);
    embeddings + norm(hidden) + of_layers(encoder, true) + head
}

/// Counts the embeddings of patches and positions, the class token, the layers, their norm, and the linear layer.
pub(super) fn of_vit(vit: &Vit) -> u128 {
    let hidden = vit.encoder.hidden;
    let patches = linear(COLOURS * vit.patch_size * vit.patch_size, hidden, true);
    let positions = u128::from(vit.tokens() + 1) * u128::from(hidden);
    patches + positions + of_layers(&vit.encoder, vit.qkv_bias) + norm(hidden) + linear(hidden, vit.classes, true)
}

fn of_layers(encoder: &Encoder, qkv_bias: bool) -> u128 {
    let Encoder { layers, hidden, intermediate, .. } = *encoder;
    let attention = 3 * linear(hidden, hidden, qkv_bias) + linear(hidden, hidden, true);
    let feed_forward = linear(hidden, intermediate, true) + linear(intermediate, hidden, true);
    u128::from(layers) * (attention + feed_forward + 2 * norm(hidden))
}

/// Counts the weight and the bias of a layer norm.
fn norm(features: u64) -> u128 {
    2 * u128::from(features)
}
