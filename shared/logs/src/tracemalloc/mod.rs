//! Reads and compares snapshots of Python's tracemalloc, which `Snapshot.dump` writes as a pickle of two classes.
//!
//! The classes are data here: `Snapshot` with its traces and the length of its stacks, and `_Traces` with a list of
//! traces. A pickle that refers to any other class is refused.

mod reader;
mod report;
mod snapshot;
#[cfg(test)]
mod tests;

pub use reader::{TracemallocReader, is_tracemalloc};
pub use report::{ComparedPlace, TracedComparison, TracedSide, traced_comparison, traced_growth};
pub use snapshot::{
    Flaw, Grouping, LineChange, Place, Placed, SteadyGrowth, Total, TracemallocSnapshot, changes, steady_growth,
};
