//! Analyses traces: lifetimes, curves, peaks, the picture of the timeline, steps, phases, findings and replays.
//!
//! Three floors: [`track`] says what was where and when, [`study`] what it was for, and [`ask`] answers questions.
//! Each imports from the floors below it, file from file, and files of one floor do not import each other in circles.
//!
//! Invariant: enums with names (`base::names!`), types without handles and what the page sends back to the worker of a
//! file derive serde's traits; a report is made of everything else.

mod study;

mod ask;

pub use foundation::analysis::track;

pub use ask::*;
pub use study::*;
pub use track::*;

/// The naive versions, with what needs purposes.
#[cfg(test)]
pub(crate) mod naive {
    pub(crate) use foundation::analysis::naive::*;

    use super::{Category, Phases, categories};
    use crate::trace::text;

    /// Returns the categories of the first device's allocations in a trace that is written as text.
    pub(crate) fn categories_of(source: &str) -> Vec<Category> {
        let (trace, timeline) = timed(text::parse(source).unwrap());
        let phases = Phases::find(&trace, &trace.devices[0], &timeline.allocations);
        categories(&trace.devices[0], &timeline, &phases)
    }
}
