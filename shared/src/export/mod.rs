//! A trace to bytes: every format that other programs open.
//!
//! Invariant: an export reads the model only; nothing of the file that the trace came from is needed again.

mod sanitize;
mod snapshot;
mod source;

pub use sanitize::{Change, Package, SanitizeOptions, SanitizeReport, Sanitized};
pub use snapshot::pickle;
