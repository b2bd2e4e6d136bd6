//! Makes recordings: of one training config, of a config with ranges, or of a config with remedies.

pub mod fix;
pub mod repro;
pub mod sweep;
