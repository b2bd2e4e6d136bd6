//! A trace to bytes: every format that other programs open.
//!
//! Invariant: an export reads the model only; nothing of the file that the trace came from is needed again.

mod snapshot;

pub use snapshot::pickle;
