//! The allocations that a selection is made from, with what is known about them.

use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::category::Category;
use crate::analysis::track::spans::Span;
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Device, Trace};

/// All allocations of a device, with the results that filters and groups need.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    pub trace: &'a Trace,
    /// Device of `trace`.
    pub device: &'a Device,
    /// Lifetimes and curves of `device`.
    pub timeline: &'a Timeline,
    /// Annotated spans of `device`; text filters search the names of the spans around an allocation.
    pub spans: &'a [Span],
    /// Category of each allocation, by its index; missing ones are [`Category::Unknown`].
    ///
    /// May be empty if neither filters nor groups use categories, because finding them takes longer than everything
    /// else.
    pub categories: &'a [Category],
}

impl Population<'_> {
    pub fn category(&self, id: AllocationId) -> Category {
        self.categories.get(id.index()).copied().unwrap_or(Category::Unknown)
    }
}
