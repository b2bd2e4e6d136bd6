//! The devices of a training config, and the ranges that it is swept over, as they are written.

use serde::Serialize;

use super::super::document::Value;
use super::super::reader::{FromValue, Reader};
use super::super::sweep::Values;

raw_table! {
    /// The several devices of a [`RawJob`](super::RawJob).
    RawParallel {
        /// `data_parallel`, `ddp`, `zero1`, `fsdp`, `tensor` or `pipeline`.
        kind: String,
        /// How many in one process.
        devices: u64,
        /// What comes together on the first device: `outputs` or `losses`.
        gather: String,
        /// How many processes.
        ranks: u64,
        /// Which process.
        rank: u64,
        /// The most gradients of a bucket, in MiB.
        bucket_mb: u64,
        /// Whether gradients are views of their buckets.
        gradient_as_bucket_view: bool,
        /// Whether every step uses the same parameters.
        static_graph: bool,
        /// Whether each forward pass looks for parameters without use.
        find_unused_parameters: bool,
        /// Whether the weights of each process are views of one tensor.
        parameters_as_bucket_view: bool,
        /// Whether sharded parameters are freed between forward and backward.
        reshard_after_forward: bool,
        /// Whether sharded parameters are gathered in bfloat16.
        mixed_precision: bool,
        /// Whether a process of `tensor` has its part of the tokens only.
        sequence_parallel: bool,
        /// Parts of a batch that go through a pipeline.
        micro_batches: u64,
        /// In which order they do: `gpipe` or `1f1b`.
        schedule: String,
    }
}

raw_table! {
    /// The ranges of a [`RawJob`](super::RawJob).
    RawSweep {
        /// Virtual cards.
        card: Values<String>,
        /// Number formats.
        precision: Values<String>,
        /// Whether activations are computed again in backward.
        checkpointing: Values<bool>,
        /// Tokens of a sample.
        sequence: Values<u64>,
        /// Samples of a micro batch.
        batch: Values<u64>,
    }
}

impl FromValue for RawParallel {
    const EXPECTED: &str = "a table such as { kind = \"data_parallel\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawSweep {
    const EXPECTED: &str = "a table such as { batch = \"1..8x2\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}
