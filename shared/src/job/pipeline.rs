//! Pipelines: the layers are split among processes, and a batch goes through them in parts.

use super::names::Names;

/// How a batch goes through a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// Parts of a batch; a process has several of them in flight.
    pub micro_batches: u64,
    /// In which order forward and backward come.
    pub schedule: Schedule,
}

/// In which order a process runs forward and backward of the parts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// All forward, then all backward: every part's activations are there at once.
    Gpipe,
    /// After a start, one backward for each forward: no more parts are in flight than processes follow.
    OneForwardOneBackward,
}

/// The schedules by name, in the order of the reference.
pub(super) const SCHEDULES: Names<Schedule> = &[("gpipe", Schedule::Gpipe), ("1f1b", Schedule::OneForwardOneBackward)];
