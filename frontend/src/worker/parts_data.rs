//! Steps and phases as they travel from the worker to the page.

use serde::{Deserialize, Serialize};
use shared::analysis::{Phase, PhaseBasis, StepSource};

/// The steps and phases of one device, with how they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// Position of the device.
    pub device: u32,
    /// How the steps were found.
    pub steps_basis: StepSource,
    /// The steps in their order; they do not overlap.
    pub steps: Vec<PartSpan>,
    /// What the phases were told by.
    pub phases_basis: PhaseBasis,
    /// The phases in their order, without those of which nothing is known; none where annotations name them.
    pub phases: Vec<(Phase, PartSpan)>,
}

/// A part of a trace, on both axes: the events after `start_moment`, up to `end_moment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpan {
    /// The moment before its first event.
    pub start_moment: u32,
    /// The moment after its last event.
    pub end_moment: u32,
    /// Microseconds of its first event since that of the trace, 0 without times.
    pub start_us: u64,
    /// Microseconds of the first event after it, 0 without times.
    pub end_us: u64,
}
