//! The U-Net of latent diffusion.

use super::attention::Attention;

/// A denoiser of random latents: diffusers' `UNet2DConditionModel`, as Stable Diffusion 1 has it.
///
/// The autoencoder and the text encoder are frozen and not part of the model: latents and text states are given.
#[derive(Debug, Clone, PartialEq)]
pub struct Unet {
    /// Channels of each level, from the finest on. Invariant: multiples of [`Unet::GROUPS`] and of `heads`.
    pub channels: Vec<u64>,
    /// Residual blocks of a level on the way down; the way up has one more.
    pub layers: u64,
    /// Height and width of the images, in pixels. Invariant: a multiple of [`Unet::PIXELS`].
    pub image_size: u64,
    /// Attention heads, on every level.
    pub heads: u64,
    /// Features of a text token.
    pub cross_attention_dim: u64,
    /// Tokens of a text.
    pub text_tokens: u64,
    /// Implementation of attention; never [`Attention::Eager`].
    pub attention: Attention,
}

impl Unet {
    /// Channels of the latents, which the model reads and writes.
    pub const LATENT_CHANNELS: u64 = 4;
    /// Height and width of the square of pixels that one latent represents.
    pub const PIXELS: u64 = 8;
    /// Groups of channels in group norms.
    pub const GROUPS: u64 = 32;

    /// Returns the height and width of the latents.
    pub const fn latent_size(&self) -> u64 {
        self.image_size / Self::PIXELS
    }

    /// Returns the number of features in the embedding of the time step.
    pub fn time_features(&self) -> u64 {
        4 * self.channels[0]
    }

    /// Returns true if a level has attention: all levels but the coarsest; the middle block below that one has it too.
    pub const fn has_attention(&self, level: usize) -> bool {
        level + 1 < self.channels.len()
    }
}
