//! Marks the lines of the virtual GPU's log by which `snapscope run` knows them.

/// Begins each line.
pub const LINE: &str = "virtual GPU: ";

/// Follows the name of a function that is not modeled.
pub const NOT_MODELED: &str = " is not implemented";

/// Begins the line that says why the workspaces of cuDNN could not be learned.
pub const UNKNOWN_WORKSPACES: &str = "the workspaces of cuDNN are not known and count as 0: ";

/// The line about memory of NCCL; its figure is that of an H200, where a process held 1,365 MiB outside PyTorch's
/// allocator with NCCL and 807 MiB without.
pub const NCCL_NOT_COUNTED: &str =
    "NCCL's buffers and kernels are not counted: they took 558 MiB of an H200, for one group of ranks";
