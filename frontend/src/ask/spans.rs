//! Defines the message form of steps and phases.

use serde::{Deserialize, Serialize};
use shared::analysis::{Phase, PhaseBasis, StepSource};

/// Steps and phases of one device, and how they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// Position of the device.
    pub device: u32,
    /// Evidence by which the steps were found.
    pub steps_basis: StepSource,
    /// Steps in their order; they do not overlap.
    pub steps: Vec<PartSpan>,
    /// Evidence from which the phases were inferred.
    pub phases_basis: PhaseBasis,
    /// Phases in their order, without unknown ones; empty if annotations name them.
    pub phases: Vec<(Phase, PartSpan)>,
}

/// Part of a trace on both axes: the events after `start_moment` up to `end_moment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpan {
    /// Moment before its first event.
    pub start_moment: u32,
    /// Moment after its last event.
    pub end_moment: u32,
    /// Time of its first event in microseconds since that of the trace, 0 without times.
    pub start_us: u64,
    /// Time of the first event after it in microseconds, 0 without times.
    pub end_us: u64,
}
