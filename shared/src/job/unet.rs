//! The U-Net of latent diffusion.

use super::model::Attention;

/// A denoiser of random latents: diffusers' `UNet2DConditionModel`, as Stable Diffusion 1 has it.
///
/// The autoencoder and the text encoder are frozen and no part of it: latents and text states come ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Unet {
    /// Channels of each level, from the finest on: multiples of [`Unet::GROUPS`] and of `heads`.
    pub channels: Vec<u64>,
    /// Residual blocks of a level on the way down; on the way up there is one more.
    pub layers: u64,
    /// Height and width of the images, in pixels: a multiple of [`Unet::PIXELS`].
    pub image_size: u64,
    /// Attention heads, on every level.
    pub heads: u64,
    /// Features of a text token.
    pub cross_attention_dim: u64,
    /// Tokens of a text.
    pub text_tokens: u64,
    /// Which kernels compute attention; never [`Attention::Eager`].
    pub attention: Attention,
}

impl Unet {
    /// Channels of the latents, which the model reads and writes.
    pub const LATENT_CHANNELS: u64 = 4;
    /// Height and width of the pixels that a latent stands for.
    pub const PIXELS: u64 = 8;
    /// Groups of channels that are normalised together.
    pub const GROUPS: u64 = 32;

    /// Height and width of the latents.
    pub const fn latent_size(&self) -> u64 {
        self.image_size / Self::PIXELS
    }

    /// Features of the time step's embedding.
    pub fn time_features(&self) -> u64 {
        4 * self.channels[0]
    }

    /// Whether a level has attention: all but the coarsest have, and so has the middle below it.
    pub const fn has_attention(&self, level: usize) -> bool {
        level + 1 < self.channels.len()
    }
}
