//! What feeds a training config, and what evaluates it, as it is written.

use serde::Serialize;

use super::super::document::Value;
use super::super::reader::{FromValue, Reader};

raw_table! {
    /// What feeds the training of a [`RawJob`](super::RawJob).
    RawData {
        /// How lengths vary: `fixed`, `uniform` or `long-tailed`.
        lengths: String,
        /// The shortest length.
        shortest: u64,
        /// How numbers of samples vary: `fixed`, `uniform` or `long-tailed`.
        batches: String,
        /// The fewest samples.
        smallest: u64,
        /// What random sizes begin with.
        seed: u64,
        /// Whether the largest batch is the first.
        longest_first: bool,
        /// What lengths are multiples of.
        pad_to_multiple_of: u64,
        /// Samples of the data set.
        samples: u64,
        /// Whether a last batch with fewer samples is left out.
        drop_last: bool,
        /// Batches that are brought to the device ahead.
        prefetch: u64,
        /// Whether batches in host memory are pinned.
        pin_memory: bool,
        /// Whether batches are copied into tensors that stay.
        reuse_buffer: bool,
        /// Where the colours of images become numbers around 0.
        normalize: String,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`](super::RawJob).
    RawEvaluation {
        /// After every so many steps.
        every: u64,
        /// Batches of one evaluation.
        batches: u64,
        /// Samples of a batch.
        batch: u64,
        /// Whether it runs under `torch.no_grad()`.
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
