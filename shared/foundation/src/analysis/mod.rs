//! The lowest floor of the analyses.

pub mod track;

#[cfg(any(test, feature = "naive"))]
pub mod naive;

pub use track::*;
