//! Defines the limits that a user sets.

/// Limits that findings are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingsConfig {
    /// Memory of the card, if the user knows it.
    pub capacity_bytes: Option<u64>,
    /// A peak of live bytes above this is an error.
    pub max_peak_bytes: Option<u64>,
    /// Reserved bytes above this are an error.
    pub max_reserved_bytes: Option<u64>,
    /// Growth per step above this is an error.
    pub max_growth_bytes: Option<u64>,
}
