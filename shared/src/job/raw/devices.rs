//! The parallelism and the sweep of a training config as written.

use serde::Serialize;

use super::super::limits::{Whole, whole};
use super::super::names::Names;
use super::super::parallel::{GATHERS, Gather, KINDS, ParallelKind};
use super::super::pipeline::{SCHEDULES, Schedule};
use super::super::values::Values;

raw_table! {
    /// Parallelism of a [`RawJob`](super::RawJob) over several devices.
    RawParallel(PARALLEL: ParallelKeys) at "parallel.", expects "a table such as { kind = \"data_parallel\" }" {
        /// `data_parallel`, `ddp`, `zero1`, `fsdp`, `tensor` or `pipeline`.
        kind: String as Names<ParallelKind> = KINDS,
        /// Number of devices in one process, for `data_parallel`.
        devices: u64 as Whole = whole(2, 16, "no machine has that many GPUs in one process"),
        /// Values that are gathered on the first device: `outputs` or `losses`.
        gather: String as Names<Gather> = GATHERS,
        /// Number of processes.
        ranks: u64 as Whole = whole(2, 1 << 16, "no cluster has that many GPUs"),
        /// Rank of the process that is recorded, from 0.
        rank: u64 as Whole = whole(0, (1 << 16) - 1, "no cluster has that many GPUs"),
        /// Largest size of a gradient bucket, in MiB.
        bucket_mb: u64 as Whole = whole(1, 1 << 20, "no GPU has that much memory"),
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
        micro_batches: u64 as Whole = whole(1, 1 << 16, "no GPU can hold that many"),
        /// Schedule of a pipeline: `gpipe` or `1f1b`.
        schedule: String as Names<Schedule> = SCHEDULES,
    }
}

raw_table! {
    /// Ranges of values in a [`RawJob`](super::RawJob).
    RawSweep(SWEEP: SweepKeys) at "sweep.", expects "a table such as { batch = \"1..8x2\" }" {
        card: Values<String>,
        precision: Values<String>,
        checkpointing: Values<bool>,
        /// Tokens of a sample.
        sequence: Values<u64>,
        /// Samples of a micro batch.
        batch: Values<u64>,
    }
}
