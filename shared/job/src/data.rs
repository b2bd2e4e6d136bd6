//! The data of a training: sizes of the batches, their order, and their transfer to the device.

use super::domain::Names;

/// Sizes, order and transfer of the batches of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Distribution of the tokens of a sample, up to the job's `sequence`.
    ///
    /// For a residual network, that of the height and width of the images, up to its `image_size`.
    pub lengths: Spread,
    /// Distribution of the samples of a batch, up to the job's `batch`.
    pub batches: Spread,
    /// Seed of the random sizes: the same seed gives the same sizes.
    pub seed: u64,
    /// True if the largest of all batches comes first.
    pub longest_first: bool,
    /// Lengths are rounded up to a multiple of this, but never beyond the longest.
    pub pad_to_multiple_of: u64,
    /// Number of samples in the data set, whose last batch takes the remainder; `None` for endless data.
    pub samples: Option<u64>,
    /// True if a last batch with fewer samples is left out.
    pub drop_last: bool,
    /// Number of batches that are copied to the device ahead, on a stream of their own.
    pub prefetch: u64,
    /// True if batches in host memory are pinned, so that copying them does not block the host.
    pub pin_memory: bool,
    /// True if batches are copied into the same tensors each time, rather than into new ones.
    pub reuse_buffer: bool,
    /// Place where the pixels of images are normalized.
    pub normalize: Normalize,
}

impl Default for Data {
    /// Returns batches of one size, each copied to the device when it is needed.
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

/// Distribution of a size over the batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Always the maximum.
    Fixed,
    /// Each size from the minimum to the maximum is equally likely.
    Uniform { least: u64 },
    /// Most sizes are small and few are large: half of them lie in the lowest sixteenth of the range.
    LongTailed { least: u64 },
}

/// Kind of a [`Spread`], without its minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpreadKind {
    Fixed,
    Uniform,
    LongTailed,
}

/// Names of the spreads, in the order of the reference.
pub(super) const SPREADS: Names<SpreadKind> =
    &[("fixed", SpreadKind::Fixed), ("uniform", SpreadKind::Uniform), ("long-tailed", SpreadKind::LongTailed)];

impl Spread {
    /// Returns the kind, and the minimum if it has one.
    pub(super) const fn parts(self) -> (SpreadKind, Option<u64>) {
        match self {
            Self::Fixed => (SpreadKind::Fixed, None),
            Self::Uniform { least } => (SpreadKind::Uniform, Some(least)),
            Self::LongTailed { least } => (SpreadKind::LongTailed, Some(least)),
        }
    }

    /// Creates the spread of this kind with `least` as its minimum.
    pub(super) const fn of(kind: SpreadKind, least: u64) -> Self {
        match kind {
            SpreadKind::Fixed => Self::Fixed,
            SpreadKind::Uniform => Self::Uniform { least },
            SpreadKind::LongTailed => Self::LongTailed { least },
        }
    }
}

/// Place where the pixels of images, integers from 0 to 255, are normalized to numbers around 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalize {
    /// In host memory: the device receives the model's number format.
    OnHost,
    /// On the device, from bytes: `images = images.float()`, then `images.sub_(mean).div_(std)`.
    InPlace,
    /// On the device, from bytes: `images = (images.float() - mean) / std`.
    OutOfPlace,
}

/// Names of the normalizations, in the order of the reference.
pub(super) const NORMALIZATIONS: Names<Normalize> =
    &[("on-host", Normalize::OnHost), ("in-place", Normalize::InPlace), ("out-of-place", Normalize::OutOfPlace)];
