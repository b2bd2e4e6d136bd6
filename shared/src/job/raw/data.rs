//! The data and the evaluation of a training config as written.

use serde::Serialize;

use super::super::document::Value;
use super::super::reader::{FromValue, Reader};

raw_table! {
    /// Sizes, order and transfer of the batches of a [`RawJob`](super::RawJob).
    RawData {
        /// Distribution of the lengths: `fixed`, `uniform` or `long-tailed`.
        lengths: String,
        shortest: u64,
        /// Distribution of the batch sizes: `fixed`, `uniform` or `long-tailed`.
        batches: String,
        /// Samples of the smallest batch.
        smallest: u64,
        /// Seed of the random sizes.
        seed: u64,
        /// True if the largest batch comes first.
        longest_first: bool,
        /// Lengths are rounded up to a multiple of this.
        pad_to_multiple_of: u64,
        /// Number of samples in the data set.
        samples: u64,
        /// True if a last batch with fewer samples is left out.
        drop_last: bool,
        /// Number of batches that are copied to the device ahead.
        prefetch: u64,
        /// True if batches in host memory are pinned.
        pin_memory: bool,
        /// True if batches are copied into the same tensors each time.
        reuse_buffer: bool,
        /// Place of the normalization of images: `on-host`, `in-place` or `out-of-place`.
        normalize: String,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`](super::RawJob).
    RawEvaluation {
        /// Number of steps between evaluations.
        every: u64,
        batches: u64,
        batch: u64,
        /// True if the evaluation runs under `torch.no_grad()`.
        no_grad: bool,
    }
}

impl FromValue for RawData {
    const EXPECTED: &str = "a table such as { lengths = \"uniform\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawEvaluation {
    const EXPECTED: &str = "a table such as { every = 1 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}
