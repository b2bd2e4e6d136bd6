//! Options of `DistributedDataParallel` that change memory.

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
