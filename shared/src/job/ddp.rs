//! The options of `DistributedDataParallel` that change what is allocated.

/// How gradients are averaged among processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ddp {
    /// The most gradients of a bucket, in MiB.
    ///
    /// `None` is PyTorch's own: 25 MiB, and 1 MiB for the bucket that is full first.
    pub bucket_mb: Option<u64>,
    /// Whether gradients are views of their buckets, rather than tensors beside them.
    pub gradient_as_bucket_view: bool,
    /// Whether every step is taken to use the same parameters.
    pub static_graph: bool,
    /// Whether each forward pass looks for parameters that the loss does not depend on.
    pub find_unused_parameters: bool,
}
