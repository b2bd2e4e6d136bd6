//! Makes recordings: of one training config, or of a config with ranges.

pub mod repro;
pub mod sweep;
