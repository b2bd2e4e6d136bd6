//! Makes several recordings of one config: all combinations of its ranges, or a search for the largest batch.
//!
//! Invariant: this module neither prints nor parses user input; the commands do both.

mod fit;
mod record;
mod report;
mod search;

pub use fit::{Fit, FitError, fit};
pub use record::{Audience, Outcome, Settings, record_all};
pub use report::report;
pub use search::{Search, Tried};
