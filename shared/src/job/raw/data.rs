//! The data and the evaluation of a training config as written.

use serde::Serialize;

use super::super::data::{NORMALIZATIONS, Normalize, SPREADS, SpreadKind};
use super::super::limits::{HOURS, NO_MODEL, Whole, whole};
use super::super::names::Names;

raw_table! {
    /// Sizes, order and transfer of the batches of a [`RawJob`](super::RawJob).
    RawData(DATA: DataKeys) at "data.", expects "a table such as { lengths = \"uniform\" }" {
        /// Distribution of the lengths: `fixed`, `uniform` or `long-tailed`.
        lengths: String as Names<SpreadKind> = SPREADS,
        shortest: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Distribution of the batch sizes: `fixed`, `uniform` or `long-tailed`.
        batches: String as Names<SpreadKind> = SPREADS,
        /// Samples of the smallest batch.
        smallest: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// Seed of the random sizes.
        seed: u64 as Whole = whole(0, (1 << 32) - 1, "a seed has 32 bits"),
        /// True if the largest batch comes first.
        longest_first: bool,
        /// Lengths are rounded up to a multiple of this.
        pad_to_multiple_of: u64 as Whole = whole(1, 1 << 20, NO_MODEL),
        /// Number of samples in the data set.
        samples: u64 as Whole = whole(1, 1 << 40, "no dataset has that many"),
        /// True if a last batch with fewer samples is left out.
        drop_last: bool,
        /// Number of batches that are copied to the device ahead.
        prefetch: u64 as Whole = whole(0, 64, "no GPU can hold that many batches"),
        /// True if batches in host memory are pinned.
        pin_memory: bool,
        /// True if batches are copied into the same tensors each time.
        reuse_buffer: bool,
        /// Place of the normalization of images: `on-host`, `in-place` or `out-of-place`.
        normalize: String as Names<Normalize> = NORMALIZATIONS,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`](super::RawJob).
    RawEvaluation(EVALUATION: EvaluationKeys) at "evaluation.", expects "a table such as { every = 1 }" {
        /// Number of steps between evaluations.
        every: u64 as Whole = whole(1, 10_000, "no job has more steps"),
        batches: u64 as Whole = whole(1, 1024, HOURS),
        batch: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// True if the evaluation runs under `torch.no_grad()`.
        no_grad: bool,
    }
}
