//! The parallelism and the sweep of a training config as written.

use serde::Serialize;

use super::super::document::Value;
use super::super::reader::{FromValue, Reader};
use super::super::values::Values;

raw_table! {
    /// Parallelism of a [`RawJob`](super::RawJob) over several devices.
    RawParallel {
        /// `data_parallel`, `ddp`, `zero1`, `fsdp`, `tensor` or `pipeline`.
        kind: String,
        /// Number of devices in one process, for `data_parallel`.
        devices: u64,
        /// Values that are gathered on the first device: `outputs` or `losses`.
        gather: String,
        /// Number of processes.
        ranks: u64,
        /// Rank of the process that is recorded, from 0.
        rank: u64,
        /// Largest size of a gradient bucket, in MiB.
        bucket_mb: u64,
        /// True if gradients are views of their buckets.
        gradient_as_bucket_view: bool,
        /// True if every step uses the same parameters.
        static_graph: bool,
        /// True if each forward pass looks for unused parameters.
        find_unused_parameters: bool,
        /// True if the weights that a process owns are views of one tensor.
        parameters_as_bucket_view: bool,
        /// True if sharded parameters are freed between forward and backward.
        reshard_after_forward: bool,
        /// True if sharded parameters are gathered in bfloat16.
        mixed_precision: bool,
        /// True if a process of `tensor` holds only its part of the tokens.
        sequence_parallel: bool,
        /// Number of parts into which a batch is split for a pipeline.
        micro_batches: u64,
        /// Schedule of a pipeline: `gpipe` or `1f1b`.
        schedule: String,
    }
}

raw_table! {
    /// Ranges of values in a [`RawJob`](super::RawJob).
    RawSweep {
        card: Values<String>,
        precision: Values<String>,
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
