//! Counts the parameters of U-Nets.

use super::super::unet::Unet;
use super::linear::linear;

/// Counts the way down, the middle, and the way up.
///
/// Source: Rombach et al., "High-Resolution Image Synthesis with Latent Diffusion Models", as diffusers builds it.
pub(super) fn of_unet(unet: &Unet) -> u128 {
    let (finest, time) = (unet.channels[0], unet.time_features());
    let coarsest = unet.channels[unet.channels.len() - 1];
    let ends = convolution(Unet::LATENT_CHANNELS, finest, 3)
        + norm(finest)
        + convolution(finest, Unet::LATENT_CHANNELS, 3)
        + linear(finest, time, true)
        + linear(time, time, true);
    let middle = 2 * of_residual(unet, coarsest, coarsest) + of_transformer(unet, coarsest);
    let levels = (0..unet.channels.len()).map(|level| of_down(unet, level) + of_up(unet, level));
    ends + middle + levels.sum::<u128>()
}

/// Counts the blocks of a level on the way down, and the convolution that halves the image after them.
fn of_down(unet: &Unet, level: usize) -> u128 {
    let channels = unet.channels[level];
    let before = unet.channels[level.saturating_sub(1)];
    let further = u128::from(unet.layers - 1) * of_residual(unet, channels, channels);
    let attention = u128::from(unet.layers) * of_attention(unet, level);
    of_residual(unet, before, channels) + further + attention + of_resize(unet, level, level + 1 < unet.channels.len())
}

/// Counts the blocks of a level on the way up, and the convolution that doubles the image after them.
///
/// Each block also reads an output of the way down.
fn of_up(unet: &Unet, level: usize) -> u128 {
    let channels = unet.channels[level];
    let below = unet.channels[(level + 1).min(unet.channels.len() - 1)];
    let above = unet.channels[level.saturating_sub(1)];
    let input = |block| if block == 0 { below } else { channels };
    let skip = |block| if block == unet.layers { above } else { channels };
    let blocks = (0..=unet.layers).map(|block| of_residual(unet, input(block) + skip(block), channels));
    let attention = u128::from(unet.layers + 1) * of_attention(unet, level);
    blocks.sum::<u128>() + attention + of_resize(unet, level, level > 0)
}

fn of_attention(unet: &Unet, level: usize) -> u128 {
    if unet.has_attention(level) { of_transformer(unet, unet.channels[level]) } else { 0 }
}

fn of_resize(unet: &Unet, level: usize, has_one: bool) -> u128 {
    if has_one { convolution(unet.channels[level], unet.channels[level], 3) } else { 0 }
}

/// Counts two convolutions with norms before them, the projection of the time step, and a shortcut if the number of
/// channels changes.
fn of_residual(unet: &Unet, inputs: u64, outputs: u64) -> u128 {
    let shortcut = if inputs == outputs { 0 } else { convolution(inputs, outputs, 1) };
    norm(inputs)
        + convolution(inputs, outputs, 3)
        + linear(unet.time_features(), outputs, true)
        + norm(outputs)
        + convolution(outputs, outputs, 3)
        + shortcut
}

/// Counts self-attention, attention to the text, and a gated feed-forward network, between two convolutions.
fn of_transformer(unet: &Unet, channels: u64) -> u128 {
    let square = linear(channels, channels, false);
    let out = linear(channels, channels, true);
    let text = linear(unet.cross_attention_dim, channels, false);
    let feed_forward = linear(channels, 8 * channels, true) + linear(4 * channels, channels, true);
    let block = 3 * norm(channels) + (3 * square + out) + (square + 2 * text + out) + feed_forward;
    norm(channels) + 2 * convolution(channels, channels, 1) + block
}

/// Counts a convolution with a bias.
fn convolution(inputs: u64, outputs: u64, kernel: u64) -> u128 {
    linear(inputs * kernel * kernel, outputs, true)
}

/// Counts the weight and the bias of a norm.
fn norm(channels: u64) -> u128 {
    2 * u128::from(channels)
}
