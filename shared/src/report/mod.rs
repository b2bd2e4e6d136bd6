//! Reports: answers as plain data in the user's words, made once from handles for every place that shows them.
//!
//! Frames are text, events are numbers, sizes are bytes, enums have names.
//! The page, `--json`, the server, tables and the terminal render a report; none of them asks an analysis again.
//!
//! Invariant: a report holds no handle of a trace, and making one decides nothing that the analysis has not decided.

mod diagnosis;
mod frame;

pub use diagnosis::{
    Diagnosis, DiagnosisConfig, Evidence, Finding, Growth, GrowthGroup, RunOfDevice, UntilFull, diagnosis,
};
pub use frame::{Frame, frame, frames};

// Plain data already, as the analysis tells it.
pub use crate::analysis::{ClassTotal, Fragmentation};
