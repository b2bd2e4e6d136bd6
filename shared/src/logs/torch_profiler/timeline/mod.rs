//! Reads what `export_memory_timeline` of torch.profiler writes: the memory of one device over time, by category.
//!
//! Source: `MemoryProfileTimeline` in `torch/profiler/_memory_profiler.py`. `.json` and `.json.gz` have levels,
//! `.raw.json.gz` has events, and `.html` has a picture of the levels without any figures.

mod form;
mod reader;
mod report;

pub use form::{TimelineForm, timeline_form};
pub use reader::TimelineReader;

/// Memory of a device over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    pub form: TimelineForm,
    /// Levels in the order of their times.
    pub points: Vec<TimelinePoint>,
    /// True if the file ends before its lists do.
    pub is_cut: bool,
    /// Number of levels or events that were not understood.
    pub unread: u64,
    /// Number of levels or events beyond those that are kept.
    pub left_out: u64,
}

/// Memory from a time on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelinePoint {
    /// Microseconds since the Unix epoch; -1 if the file has no time at all.
    pub time_us: i64,
    /// Bytes of each category, in the order of [`TensorCategory::ALL`].
    pub bytes: [u64; TensorCategory::ALL.len()],
}

impl TimelinePoint {
    /// Returns the bytes of all categories.
    pub fn total(&self) -> u64 {
        self.bytes.iter().copied().fold(0, u64::saturating_add)
    }
}

impl Timeline {
    /// Returns the first point with the most memory; `None` without points.
    pub fn peak(&self) -> Option<&TimelinePoint> {
        self.points.iter().rev().max_by_key(|point| point.total())
    }
}

/// Purpose of a tensor, as the profiler infers it, in the order of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorCategory {
    Parameter,
    OptimizerState,
    Input,
    Temporary,
    Activation,
    Gradient,
    AutogradDetail,
    /// The profiler saw no operator that tells the purpose.
    Unknown,
}

crate::names!(TensorCategory {
    Parameter => "parameters",
    OptimizerState => "optimizer state",
    Input => "inputs",
    Temporary => "temporaries",
    Activation => "activations",
    Gradient => "gradients",
    AutogradDetail => "autograd details",
    Unknown => "unknown purpose",
});

#[cfg(test)]
mod tests;
