//! Pipeline parallelism: the layers are split among processes, and a batch passes through them in parts.

use super::names::Names;

/// Settings of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// Number of parts of a batch; a process has several of them in flight.
    pub micro_batches: u64,
    pub schedule: Schedule,
}

/// Order in which a process runs forward and backward of the parts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// All forward passes, then all backward passes: the activations of all parts are alive at once.
    Gpipe,
    /// After a warm-up, one backward for each forward.
    ///
    /// A process has at most as many parts in flight as there are processes from it to the last.
    OneForwardOneBackward,
}

/// Names of the schedules, in the order of the reference.
pub(super) const SCHEDULES: Names<Schedule> = &[("gpipe", Schedule::Gpipe), ("1f1b", Schedule::OneForwardOneBackward)];
