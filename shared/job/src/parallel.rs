//! Parallelism over several devices.

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
    /// `fully_shard`: each process has a part of the parameters, gradients and optimizer state.
    Fsdp(Fsdp),
}

/// The recorded process among those that train together, each with a device of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Rank of the process, from 0.
    pub rank: u64,
    /// Number of processes, at least 2.
    pub ranks: u64,
}

/// Averaging of gradients over the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ddp {
    /// Largest size of a gradient bucket, in MiB.
    ///
    /// `None` is PyTorch's default: 25 MiB, and 1 MiB for the first bucket that fills up.
    pub bucket_mb: Option<u64>,
    /// True if gradients are views of their buckets, rather than separate tensors.
    pub gradient_as_bucket_view: bool,
    /// True if every step is assumed to use the same parameters.
    pub static_graph: bool,
    /// True if each forward pass looks for parameters that the loss does not depend on.
    pub find_unused_parameters: bool,
}

/// Sharding of parameters, gradients and optimizer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fsdp {
    pub rank: Rank,
    /// True if a block frees its parameters after forward and gathers them again in backward.
    pub reshard_after_forward: bool,
    /// True if blocks compute in bfloat16 while the optimizer keeps 32-bit weights.
    pub mixed_precision: bool,
}

words! {
    /// Outputs of the replicas that are gathered on the first device.
    pub enum Gather in GATHERS {
        /// Everything that the model returns; the first device computes the loss from the logits.
        Outputs = "outputs",
        /// Only the loss, because a module wraps model and loss.
        Losses = "losses",
    }

    pub(super) enum ParallelKind in KINDS {
        DataParallel = "data_parallel",
        Ddp = "ddp",
        Fsdp = "fsdp",
    }
}

impl Parallel {
    /// Returns the process that is recorded, if there are several processes.
    pub const fn rank(&self) -> Option<Rank> {
        match *self {
            Self::DataParallel { .. } => None,
            Self::Ddp { rank, .. } | Self::Fsdp(Fsdp { rank, .. }) => Some(rank),
        }
    }

    /// Returns the recorded process and the options, if `DistributedDataParallel` averages the gradients.
    pub const fn ddp(&self) -> Option<(Rank, Ddp)> {
        match *self {
            Self::Ddp { rank, ddp } => Some((rank, ddp)),
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
