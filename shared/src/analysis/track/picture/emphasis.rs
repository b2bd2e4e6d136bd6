//! Allocations that a picture sets apart from the others.

use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::members::Members;

/// Allocations that a picture sets apart from the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emphasis<'a> {
    /// Selected allocations; bands of all others are marked as [`Band::is_other`](super::Band::is_other).
    pub members: Option<&'a Members>,
    /// Allocation of the trace that is a band of its own, however small it is.
    pub apart: Option<AllocationId>,
}

impl Emphasis<'_> {
    /// Returns true for an allocation that keeps its colour: any if none are selected.
    pub(super) fn is_own(&self, row: u32) -> bool {
        self.members.is_none_or(|members| members.contains(AllocationId(row)))
    }

    /// Returns true if an allocation is a band of its own at any scale.
    pub(super) fn is_apart(&self, row: u32) -> bool {
        self.apart == Some(AllocationId(row))
    }
}
