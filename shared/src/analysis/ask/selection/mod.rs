//! Selects allocations of a device that are alive at a moment or within a range, and filters, weighs and groups them.
//!
//! Tables and flame graphs use the same selections, so that their totals agree for every grouping.

mod facts;
mod filter;
mod group;
mod label;
mod module_names;
mod pattern;
mod scope;
mod weight;

#[cfg(test)]
mod tests;

pub use facts::{pool_of, stream_of, streams_and_pools};
pub use filter::Filter;
pub use group::{Group, GroupBy, GroupKey, Groups, Totals, group};
pub use label::{Label, label};
pub use pattern::{PatternError, TextFilter};
pub use scope::{Part, Scope};
pub use weight::{Weigher, Weight};

use self::filter::Matcher;
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

/// Returns the allocations of a scope that pass a filter, in the order of their handles, which is that of their births.
///
/// Texts are matched once per frame, span and context of the trace, not once per allocation.
pub fn select(population: &Population<'_>, scope: &Scope, filter: &Filter) -> Vec<AllocationId> {
    if *filter == Filter::default() {
        return scope.select(population.timeline, |_| true);
    }
    let matcher = Matcher::new(population, filter);
    scope.select(population.timeline, |id| matcher.matches(id))
}
