//! The lowest floor of the analyses.

pub mod track;

// The naive versions, for tests of this crate and of those above it; a feature would compile all of them twice.
#[doc(hidden)]
pub mod naive;

pub use track::*;
