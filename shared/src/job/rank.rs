//! The rank of the recorded process among several.

/// The recorded process among those that train together, each with a device of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Rank of the process, from 0.
    pub rank: u64,
    /// Number of processes, at least 2.
    pub ranks: u64,
}
