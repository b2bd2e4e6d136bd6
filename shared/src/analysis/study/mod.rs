//! What memory was for: steps, phases, categories, the kind of run, and what stays.
//!
//! Invariant: a [`Study`] is made once for each device, and every question starts from it.

pub(super) mod by_design;
pub(super) mod categories;
pub(super) mod flat_buffers;
pub(super) mod growth;
pub(super) mod left_of_pass;
pub(super) mod older;
pub(super) mod period;
pub(super) mod phases;
pub(super) mod run_kind;
pub(super) mod sites;
pub(super) mod steps;
pub(super) mod studied;
pub(super) mod unused_graphs;

pub use categories::{CategoryBytes, categories, live_by_category, live_by_given_category};
pub use growth::{ClassTotal, Course, Growth, GrowthClass, Kept};
pub use left_of_pass::{ForwardPass, PassRow};
pub use period::Step;
pub use phases::{Phase, PhaseBasis, Phases};
pub use run_kind::RunKind;
pub use steps::{StepSource, Steps};
pub use studied::{Studied, Study};
