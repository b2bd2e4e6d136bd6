//! Runs on several devices.

use super::names::Names;

/// How a run uses several devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// `nn.DataParallel`: a replica of the model on each device, in one process.
    DataParallel {
        /// Devices from the first on, 2 at least.
        devices: u64,
    },
}

/// Which way of using several devices, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParallelKind {
    /// `nn.DataParallel`
    DataParallel,
}

/// The kinds by name, in the order of the reference.
pub(super) const KINDS: Names<ParallelKind> = &[("data_parallel", ParallelKind::DataParallel)];
