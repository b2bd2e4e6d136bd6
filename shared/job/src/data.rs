//! The data of a training: sizes of the batches, their order, and their transfer to the device.

/// Sizes, order and transfer of the batches of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Distribution of the tokens of a sample, up to the job's `sequence`.
    ///
    /// For a residual network, that of the height and width of the images, up to its `image_size`.
    pub lengths: Spread,
    /// Smallest length, unless all are the same.
    pub shortest: u64,
    /// Distribution of the samples of a batch, up to the job's `batch`.
    pub batches: Spread,
    /// Samples of the smallest batch, unless all have the same number.
    pub smallest: u64,
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
            shortest: 1,
            batches: Spread::Fixed,
            smallest: 1,
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

words! {
    /// Distribution of a size over the batches, from a minimum to a maximum.
    pub enum Spread in SPREADS {
        /// Always the maximum.
        Fixed = "fixed",
        /// Each size is equally likely.
        Uniform = "uniform",
        /// Most sizes are small and few are large: half of them lie in the lowest sixteenth of the range.
        LongTailed = "long-tailed",
    }

    /// Place where the pixels of images, integers from 0 to 255, are normalized to numbers around 0.
    pub enum Normalize in NORMALIZATIONS {
        /// In host memory: the device receives the model's number format.
        OnHost = "on-host",
        /// On the device, from bytes: `images = images.float()`, then `images.sub_(mean).div_(std)`.
        InPlace = "in-place",
        /// On the device, from bytes: `images = (images.float() - mean) / std`.
        OutOfPlace = "out-of-place",
    }
}
