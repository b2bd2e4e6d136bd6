//! Marks that `record_function` and the profiler leave beside the trace.

use crate::base::StringId;

/// Which end of a span an annotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The span begins.
    Start,
    /// The span ends.
    End,
}

/// One end of a named span, such as `ProfilerStep#3` or `Optimizer.step#AdamW.step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Begin or end.
    pub stage: Stage,
    /// The span's name.
    pub name: StringId,
    /// Device index that was current when the mark was made.
    pub device: i64,
    /// Microseconds since the Unix epoch, on the clock of the events.
    pub time_us: i64,
}
