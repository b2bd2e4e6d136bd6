//! Selects allocations of a device that are alive at a moment or within a range, and filters, weighs and groups them.
//!
//! Tables and flame graphs use the same selections, so that their totals agree for every grouping.
//!
//! Invariant: all groupings and weights of a selection have the same totals; a text is matched once per frame, never
//! once per allocation.

mod areas;
mod filter;
mod group;
mod label;
mod module_names;
mod pattern;
mod scope;
mod weight;

#[cfg(test)]
mod tests;

pub use areas::{Area, AreaBy, AreaGroup, Areas, REST_COLOR};
pub use filter::Filter;
pub use group::{Group, GroupBy, GroupKey, Groups, Totals, group, pool_of, stream_of, streams_and_pools};
pub(in crate::analysis) use label::frame_label;
pub use label::{Label, former_label, label, stack_group};
pub use pattern::{PatternError, TextFilter};
pub use scope::{Part, Scope};
pub use weight::{Population, Weigher, Weight};

use self::filter::Matcher;
use crate::analysis::track::allocations::AllocationId;

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
