//! GPU models: what a virtual GPU says of itself, and what a real one would.

use std::fmt;

/// A GPU model.
///
/// Totals are those that PyTorch's out-of-memory messages give for it, which is a little less than the box says.
/// They differ by up to 0.3 % with the driver and with ECC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The name on the command line: `h100-80gb`, `custom:48GiB`.
    pub name: String,
    /// What the driver calls it: `NVIDIA H100 80GB HBM3`.
    pub product: String,
    /// Total memory, in bytes.
    pub memory_bytes: u64,
    /// Compute capability: it decides workspaces and kernels.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Resident threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Level-two cache, in bytes.
    pub l2_bytes: u64,
    /// Shared memory that a block can ask for, in bytes.
    pub shared_memory_per_block_bytes: u32,
}

/// A compute capability, such as 9.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComputeCapability {
    /// The part before the point.
    pub major: u8,
    /// The part after it.
    pub minor: u8,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The cards of a machine: device index to card. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cards(pub Vec<Card>);
