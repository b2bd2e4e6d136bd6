//! Analyses traces: lifetimes, curves, peaks, the picture of the timeline, steps, phases, findings and replays.
//!
//! Three floors: [`track`] says what was where and when, [`study`] what it was for, and [`ask`] answers questions.
//! Each imports from the floors below it, file from file, and files of one floor do not import each other in circles.
//!
//! Invariant: only enums with names (`base::names!`) and types without handles derive serde's traits; a report is made
//! of everything else.

mod track;

mod study;

mod ask;

#[cfg(test)]
pub(crate) mod naive;

pub use ask::*;
pub use study::*;
pub use track::*;
