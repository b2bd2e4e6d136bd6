//! What feeds a training: how large its batches are, in which order they come, and how they get to the device.

mod sizes;

pub use sizes::BatchSize;

use super::names::Names;

/// What feeds a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Tokens of a batch's samples, up to the job's `sequence`; height and width of a residual network's images.
    pub lengths: Spread,
    /// Samples of a batch, up to the job's `batch`.
    pub batches: Spread,
    /// What random sizes begin with: the same sizes for the same seed.
    pub seed: u64,
    /// Whether the largest batch of all is the first.
    pub longest_first: bool,
    /// Lengths are rounded up to a multiple of this, and are at most the longest.
    pub pad_to_multiple_of: u64,
    /// Samples of the data set, whose last batch has what is left; `None` never ends.
    pub samples: Option<u64>,
    /// Whether a last batch with fewer samples is left out.
    pub drop_last: bool,
    /// Batches that are brought to the device ahead, on a stream of their own.
    pub prefetch: u64,
    /// Whether batches in host memory are pinned, so that copies of them don't keep the host waiting.
    pub pin_memory: bool,
    /// Whether batches are copied into tensors that stay, rather than into new ones.
    pub reuse_buffer: bool,
    /// Where the colours of images become numbers around 0.
    pub normalize: Normalize,
}

impl Default for Data {
    /// Batches of one size, each brought to the device when it is needed.
    fn default() -> Self {
        Self {
            lengths: Spread::Fixed,
            batches: Spread::Fixed,
            seed: 0,
            longest_first: false,
            pad_to_multiple_of: 1,
            samples: None,
            drop_last: false,
            prefetch: 0,
            pin_memory: false,
            reuse_buffer: false,
            normalize: Normalize::OnHost,
        }
    }
}

/// How a size varies from batch to batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Always the most.
    Fixed,
    /// Each size from the least to the most is as likely as any other.
    Uniform {
        /// The least.
        least: u64,
    },
    /// Most are small and few are large: half of them lie in the lowest sixteenth.
    LongTailed {
        /// The least.
        least: u64,
    },
}

/// Which [`Spread`], without its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpreadKind {
    Fixed,
    Uniform,
    LongTailed,
}

/// The spreads by name, in the order of the reference.
pub(super) const SPREADS: Names<SpreadKind> =
    &[("fixed", SpreadKind::Fixed), ("uniform", SpreadKind::Uniform), ("long-tailed", SpreadKind::LongTailed)];

impl Spread {
    /// Which it is, and its least size where it has one.
    pub(super) const fn parts(self) -> (SpreadKind, Option<u64>) {
        match self {
            Self::Fixed => (SpreadKind::Fixed, None),
            Self::Uniform { least } => (SpreadKind::Uniform, Some(least)),
            Self::LongTailed { least } => (SpreadKind::LongTailed, Some(least)),
        }
    }

    /// The spread of this kind from `least` on.
    pub(super) const fn of(kind: SpreadKind, least: u64) -> Self {
        match kind {
            SpreadKind::Fixed => Self::Fixed,
            SpreadKind::Uniform => Self::Uniform { least },
            SpreadKind::LongTailed => Self::LongTailed { least },
        }
    }
}

/// Where the colours of images, whole numbers from 0 to 255, become numbers around 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalize {
    /// In host memory: what gets to the device are the model's numbers.
    OnHost,
    /// On the device, from bytes: `images = images.float()`, then `images.sub_(mean).div_(std)`.
    InPlace,
    /// On the device, from bytes: `images = (images.float() - mean) / std`.
    OutOfPlace,
}

/// The ways of normalizing by name, in the order of the reference.
pub(super) const NORMALIZATIONS: Names<Normalize> =
    &[("on-host", Normalize::OnHost), ("in-place", Normalize::InPlace), ("out-of-place", Normalize::OutOfPlace)];
