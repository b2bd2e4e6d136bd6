//! Converts selections from their message form to allocations.

use super::ready::Ready;
use frontend::ask::{FilterData, GroupKeyData, ScopeData, SelectionData, SelectionFacts};
use shared::analysis::{
    AllocationId, Category, Filter, GroupBy, GroupKey, Population, Scope, TextFilter, Weigher, Weight, select,
    streams_and_pools,
};
use shared::base::StringId;
use shared::report::{LiveConfig, LiveGroups, live_groups};
use shared::trace::{FrameId, PoolId, StackId};

/// Allocations of a selection, and how they are weighed.
pub(super) struct Selected<'a> {
    pub(super) population: Population<'a>,
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
        group: data.group.and_then(group_key),
    })
}

/// Converts the key of a group, `None` for numbers that the worker never sent.
pub(super) fn group_key(data: GroupKeyData) -> Option<GroupKey> {
    let index = data.value.and_then(|(index, _)| usize::try_from(index).ok());
    let small = index.filter(|&index| u32::try_from(index).is_ok());
    Some(match data.by {
        GroupBy::Stack => GroupKey::Stack(StackId::from_index(small?)),
        GroupBy::Frame => GroupKey::Frame(small.map(FrameId::from_index)),
        GroupBy::Function => GroupKey::Function(small.map(FrameId::from_index)),
        GroupBy::Module => GroupKey::Module(StringId::from_index(small?)),
        GroupBy::Category => GroupKey::Category(*Category::ALL.get(small?)?),
        GroupBy::Stream => GroupKey::Stream(data.value.map(|(stream, _)| stream)),
        GroupBy::Pool => GroupKey::Pool(data.value.map(|(capture, handle)| PoolId(capture, handle))),
        GroupBy::SizeClass => GroupKey::SizeClass(u32::try_from(small?).ok()?),
    })
}

pub(super) fn group_key_data(key: GroupKey) -> GroupKeyData {
    let one = |index: usize| Some((index as u64, 0));
    let (by, value) = match key {
        GroupKey::Stack(stack) => (GroupBy::Stack, one(stack.index())),
        GroupKey::Frame(frame) => (GroupBy::Frame, frame.and_then(|frame| one(frame.index()))),
        GroupKey::Function(frame) => (GroupBy::Function, frame.and_then(|frame| one(frame.index()))),
        GroupKey::Module(module) => (GroupBy::Module, one(module.index())),
        GroupKey::Category(category) => (GroupBy::Category, one(category as usize)),
        GroupKey::Stream(stream) => (GroupBy::Stream, stream.map(|stream| (stream, 0))),
        GroupKey::Pool(pool) => (GroupBy::Pool, pool.map(|PoolId(capture, handle)| (capture, handle))),
        GroupKey::SizeClass(power) => (GroupBy::SizeClass, Some((u64::from(power), 0))),
    };
    GroupKeyData { by, value }
}

/// Returns the stacks that hold the live bytes of a moment.
pub(super) fn stacks(ready: Ready<'_>, moment: u32, limit: u32) -> LiveGroups {
    let moment = moment.min(ready.timeline.events());
    live_groups(&population(ready, false), &LiveConfig::at(moment, limit as usize))
}

/// Returns the streams and pools by which the allocations of a device can be filtered.
pub(super) fn facts(ready: Ready<'_>) -> SelectionFacts {
    let Ready { trace, device, timeline, .. } = ready;
    let (streams, pools) = streams_and_pools(trace, device, &timeline.allocations);
    SelectionFacts { streams: streams.into_iter().collect(), pools: pools.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back() {
        let frame = FrameId::from_index(7);
        for key in [
            GroupKey::Stack(StackId::NONE),
            GroupKey::Frame(None),
            GroupKey::Frame(Some(frame)),
            GroupKey::Function(Some(frame)),
            GroupKey::Module(StringId::EMPTY),
            GroupKey::Category(Category::Workspace),
            GroupKey::Stream(None),
            GroupKey::Stream(Some(u64::MAX)),
            GroupKey::Pool(Some(PoolId(3, 4))),
            GroupKey::SizeClass(63),
        ] {
            assert_eq!(group_key(group_key_data(key)), Some(key));
        }
    }

    #[test]
    fn numbers_that_mean_nothing_are_no_key() {
        let key = |by, value| group_key(GroupKeyData { by, value });
        assert_eq!(key(GroupBy::Category, Some((10, 0))), None);
        assert_eq!(key(GroupBy::Stack, Some((u64::MAX, 0))), None);
        assert_eq!(key(GroupBy::Stack, None), None);
    }
}
