//! The options of `fully_shard` that change what is allocated.

use super::parallel::Rank;

/// How parameters, gradients and optimizer state are sharded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fsdp {
    /// The process that is recorded.
    pub rank: Rank,
    /// Whether a block frees its parameters after forward, and gathers them once more in backward.
    pub reshard_after_forward: bool,
    /// Whether blocks compute in bfloat16 on weights that the optimizer has in 32 bits.
    pub mixed_precision: bool,
}
