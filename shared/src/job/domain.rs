//! Valid values of a key, for forms.

use std::ops::RangeInclusive;

/// Valid values of a key.
pub(super) trait Domain {
    /// Returns the valid words in the order of the reference; empty if other values are valid too.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the bounds of whole numbers, `None` if the key takes none.
    fn bounds(&self) -> Option<RangeInclusive<u64>> {
        None
    }
}

impl Domain for () {}
