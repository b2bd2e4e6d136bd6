//! Converts selections from their message form to allocations.

use super::ready::Ready;
use frontend::ask::{FilterData, ScopeData, SelectionData};
use shared::analysis::{
    AllocationId, Filter, GroupBy, Groups, Population, Scope, TextFilter, Weigher, Weight, group, select,
};

/// Allocations of a selection, and how they are weighed.
pub(super) struct Selected<'a> {
    population: Population<'a>,
    pub(super) scope: Scope,
    pub(super) ids: Vec<AllocationId>,
    weight: Weight,
}

impl<'a> Selected<'a> {
    /// Selects allocations in the order of their births; the error is a message about the filter's text.
    pub(super) fn new(ready: Ready<'a>, data: &SelectionData) -> Result<Self, String> {
        let scope = scope(ready, data.scope);
        let filter = filter(&data.filter)?;
        let population = population(ready, filter.needs_categories());
        let ids = select(&population, &scope, &filter);
        Ok(Self { population, scope, ids, weight: data.weight })
    }

    pub(super) fn weigher(&self) -> Weigher<'a> {
        Weigher::new(&self.population, &self.scope, self.weight)
    }

    pub(super) fn groups(&self, ready: Ready<'_>, by: GroupBy) -> Groups {
        group(&population(ready, by == GroupBy::Category), &self.ids, &self.weigher(), by)
    }
}

/// Returns all allocations of a device; categories are optional, because they take longer than everything else.
pub(super) fn population(ready: Ready<'_>, has_categories: bool) -> Population<'_> {
    let Ready { trace, device, timeline, .. } = ready;
    let categories = if has_categories { ready.categories() } else { &[] };
    Population { trace, device, timeline, spans: ready.spans(), categories }
}

pub(super) fn scope(ready: Ready<'_>, data: ScopeData) -> Scope {
    let Ready { timeline, device, .. } = ready;
    match data {
        ScopeData::At(moment) => Scope::At(moment.min(timeline.events())),
        ScopeData::Within { axis, x0, x1, part } => {
            let moment = |x| timeline.moment_at_x(device, axis, x);
            // A moment that is visible in at least one pixel counts as visible.
            Scope::Within { moments: moment(x0)..moment(x1) + 1, part }
        }
    }
}

pub(super) fn filter(data: &FilterData) -> Result<Filter, String> {
    let text = match (data.text.as_str(), data.is_expression) {
        ("", _) => None,
        (text, false) => Some(TextFilter::plain(text)),
        (text, true) => Some(TextFilter::expression(text).map_err(|error| error.to_string())?),
    };
    Ok(Filter {
        text,
        size_bytes: data.min_bytes..=u64::MAX,
        lifetime_events: data.min_lifetime..=u32::MAX,
        stream: data.stream,
        pool: data.pool,
        categories: data.category.map(|category| vec![category]),
        group: data.group,
    })
}
