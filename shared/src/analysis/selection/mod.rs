//! Some of the allocations of a device: alive at a moment or within a range, filtered, weighed and grouped.
//!
//! Tables and flame graphs show such selections, so that their totals agree whatever they are grouped by.

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
use super::{AllocationId, Category, Span, Timeline};
use crate::trace::{Device, Trace};

/// All allocations of a device, and what is known about them.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    /// The snapshot.
    pub trace: &'a Trace,
    /// The device of it.
    pub device: &'a Device,
    /// The device's lifetimes and curves.
    pub timeline: &'a Timeline,
    /// The device's annotated spans, for texts to be looked for in the names of those around an allocation.
    pub spans: &'a [Span],
    /// The category of each allocation by its index; where there is none, it is [`Category::Unknown`].
    ///
    /// Finding categories takes longer than all the rest, so that who neither filters nor groups by them leaves them.
    pub categories: &'a [Category],
}

impl Population<'_> {
    /// The category of an allocation.
    pub fn category(&self, id: AllocationId) -> Category {
        self.categories.get(id.index()).copied().unwrap_or(Category::Unknown)
    }
}

/// The allocations of a scope that pass a filter, in the order of their handles, which is that of their births.
///
/// Texts are matched once for each frame, span and context of the trace, and not for each allocation.
pub fn select(population: &Population<'_>, scope: &Scope, filter: &Filter) -> Vec<AllocationId> {
    if *filter == Filter::default() {
        return scope.select(population.timeline, |_| true);
    }
    let matcher = Matcher::new(population, filter);
    scope.select(population.timeline, |id| matcher.matches(id))
}
