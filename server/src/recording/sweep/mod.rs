//! Makes several recordings of one config: all combinations of its ranges, or a search for the largest batch.
//!
//! Invariant: this module neither prints nor parses user input; the commands do both.

mod fit;
mod record;
mod report;

pub use fit::{Fit, FitError, Tried, fit, largest};
pub use record::{Audience, Outcome, Settings, record_all};
pub use report::{csv, report};
