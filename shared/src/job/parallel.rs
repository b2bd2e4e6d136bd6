//! Parallelism over several devices.

use super::ddp::Ddp;
use super::fsdp::Fsdp;
use super::names::Names;
use super::pipeline::Pipeline;
use super::rank::Rank;

/// How a job uses several devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// `nn.DataParallel`: a replica of the model on each device, in one process.
    DataParallel {
        /// Number of devices, from index 0 on; at least 2.
        devices: u64,
        gather: Gather,
    },
    /// `DistributedDataParallel`: the whole model in each process, gradients averaged in buckets.
    Ddp { rank: Rank, ddp: Ddp },
    /// `ZeroRedundancyOptimizer` over DDP: each process has a part of the optimizer state.
    Zero1 {
        rank: Rank,
        ddp: Ddp,
        /// True if the weights that a process owns are views of one tensor.
        parameters_as_bucket_view: bool,
    },
    /// `fully_shard`: each process has a part of the parameters, gradients and optimizer state.
    Fsdp(Fsdp),
    /// Tensor parallelism: each process has a part of every linear layer.
    Tensor {
        rank: Rank,
        /// True if a process holds only its part of the tokens wherever a layer does not need all of them.
        sequence_parallel: bool,
    },
    /// Pipeline parallelism: each process has some of the layers.
    Pipeline { rank: Rank, pipeline: Pipeline },
}

/// Outputs of the replicas that are gathered on the first device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gather {
    /// Everything that the model returns; the first device computes the loss from the logits.
    Outputs,
    /// Only the loss, because a module wraps model and loss.
    Losses,
}

impl Parallel {
    /// Returns the process that is recorded, if there are several processes.
    pub const fn rank(&self) -> Option<Rank> {
        match *self {
            Self::DataParallel { .. } => None,
            Self::Ddp { rank, .. }
            | Self::Zero1 { rank, .. }
            | Self::Fsdp(Fsdp { rank, .. })
            | Self::Tensor { rank, .. }
            | Self::Pipeline { rank, .. } => Some(rank),
        }
    }

    /// Returns the recorded process and the options, if `DistributedDataParallel` averages the gradients.
    pub const fn ddp(&self) -> Option<(Rank, Ddp)> {
        match *self {
            Self::Ddp { rank, ddp } | Self::Zero1 { rank, ddp, .. } => Some((rank, ddp)),
            _ => None,
        }
    }

    pub const fn fsdp(&self) -> Option<Fsdp> {
        match *self {
            Self::Fsdp(fsdp) => Some(fsdp),
            _ => None,
        }
    }
}

/// Kind of parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParallelKind {
    DataParallel,
    Ddp,
    Zero1,
    Fsdp,
    /// Parts of each layer in each process.
    Tensor,
    /// Some of the layers in each process.
    Pipeline,
}

/// Names of the gathered outputs, in the order of the reference.
pub(super) const GATHERS: Names<Gather> = &[("outputs", Gather::Outputs), ("losses", Gather::Losses)];

/// Names of the kinds, in the order of the reference.
pub(super) const KINDS: Names<ParallelKind> = &[
    ("data_parallel", ParallelKind::DataParallel),
    ("ddp", ParallelKind::Ddp),
    ("zero1", ParallelKind::Zero1),
    ("fsdp", ParallelKind::Fsdp),
    ("tensor", ParallelKind::Tensor),
    ("pipeline", ParallelKind::Pipeline),
];
