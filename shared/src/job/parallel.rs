//! Runs on several devices.

use super::ddp::Ddp;
use super::fsdp::Fsdp;
use super::names::Names;
use super::pipeline::Pipeline;

/// How a run uses several devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// `nn.DataParallel`: a replica of the model on each device, in one process.
    DataParallel {
        /// Devices from the first on, 2 at least.
        devices: u64,
        /// What the first device gets of the others.
        gather: Gather,
    },
    /// `DistributedDataParallel`: the whole model in each process, gradients averaged in buckets.
    Ddp {
        /// The process that is recorded.
        rank: Rank,
        /// How gradients are averaged.
        ddp: Ddp,
    },
    /// `ZeroRedundancyOptimizer` over DDP: each process has a part of the optimizer's state.
    Zero1 {
        /// The process that is recorded.
        rank: Rank,
        /// How gradients are averaged.
        ddp: Ddp,
        /// Whether the weights of each process are views of one tensor.
        parameters_as_bucket_view: bool,
    },
    /// `fully_shard`: each process has a part of parameters, gradients and optimizer state.
    Fsdp(Fsdp),
    /// Tensor parallelism: each process has a part of every linear layer.
    Tensor {
        /// The process that is recorded.
        rank: Rank,
        /// Whether a process has its part of the tokens only, where no layer needs them all.
        sequence_parallel: bool,
    },
    /// Pipeline parallelism: each process has some of the layers.
    Pipeline {
        /// The process that is recorded.
        rank: Rank,
        /// How a batch goes through.
        pipeline: Pipeline,
    },
}

/// What replicas return, which is gathered on the first device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gather {
    /// All that the model returns: the loss of logits is computed on the first device.
    Outputs,
    /// The loss only, as of a module that wraps model and loss.
    Losses,
}

/// One process among those that train together, each with a device of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Its number, from 0.
    pub rank: u64,
    /// How many there are, 2 at least.
    pub ranks: u64,
}

impl Parallel {
    /// The process that is recorded, where there are several.
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

    /// The process that is recorded and how gradients are averaged, where `DistributedDataParallel` does so.
    pub const fn ddp(&self) -> Option<(Rank, Ddp)> {
        match *self {
            Self::Ddp { rank, ddp } | Self::Zero1 { rank, ddp, .. } => Some((rank, ddp)),
            _ => None,
        }
    }

    /// How parameters are sharded, where they are.
    pub const fn fsdp(&self) -> Option<Fsdp> {
        match *self {
            Self::Fsdp(fsdp) => Some(fsdp),
            _ => None,
        }
    }

    /// Which way this is.
    pub(super) const fn kind(&self) -> ParallelKind {
        match self {
            Self::DataParallel { .. } => ParallelKind::DataParallel,
            Self::Ddp { .. } => ParallelKind::Ddp,
            Self::Zero1 { .. } => ParallelKind::Zero1,
            Self::Fsdp(_) => ParallelKind::Fsdp,
            Self::Tensor { .. } => ParallelKind::Tensor,
            Self::Pipeline { .. } => ParallelKind::Pipeline,
        }
    }
}

/// Which way of using several devices, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParallelKind {
    /// `nn.DataParallel`
    DataParallel,
    /// `DistributedDataParallel`
    Ddp,
    /// `ZeroRedundancyOptimizer`
    Zero1,
    /// `fully_shard`
    Fsdp,
    /// Parts of layers
    Tensor,
    /// Layers one after another
    Pipeline,
}

/// What is gathered by name, in the order of the reference.
pub(super) const GATHERS: Names<Gather> = &[("outputs", Gather::Outputs), ("losses", Gather::Losses)];

/// The kinds by name, in the order of the reference.
pub(super) const KINDS: Names<ParallelKind> = &[
    ("data_parallel", ParallelKind::DataParallel),
    ("ddp", ParallelKind::Ddp),
    ("zero1", ParallelKind::Zero1),
    ("fsdp", ParallelKind::Fsdp),
    ("tensor", ParallelKind::Tensor),
    ("pipeline", ParallelKind::Pipeline),
];
