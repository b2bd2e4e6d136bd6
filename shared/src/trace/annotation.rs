//! Annotations: marks that `record_function` and the profiler leave next to the events.

use crate::base::StringId;

/// End of a span that an annotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Start,
    End,
}

/// One end of a named span, such as `ProfilerStep#3` or `Optimizer.step#AdamW.step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub stage: Stage,
    pub name: StringId,
    /// Device index that was current at the time of the mark.
    pub device: i64,
    /// Microseconds since the Unix epoch, on the same clock as the events.
    pub time_us: i64,
}
