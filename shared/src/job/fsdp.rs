//! Options of `fully_shard` that change memory.

use super::rank::Rank;

/// Sharding of parameters, gradients and optimizer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fsdp {
    pub rank: Rank,
    /// True if a block frees its parameters after forward and gathers them again in backward.
    pub reshard_after_forward: bool,
    /// True if blocks compute in bfloat16 while the optimizer keeps 32-bit weights.
    pub mixed_precision: bool,
}
