//! Makes several recordings of one config: all combinations of its ranges, or a search for the largest batch.
//!
//! Invariant: this module neither prints nor parses user input; the commands do both.

mod fit;
mod record;
mod search;

pub use fit::{Fit, SearchError, fit};
pub use record::{Audience, Outcome, Settings, record_all, report};
pub use search::{Search, Tried};
