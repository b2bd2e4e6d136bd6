//! A byte count over the moments of a trace, with the maximum of any range in logarithmic time.

/// A byte count at every moment `0..=events`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {}
