//! Filters allocations by text, size, lifetime, stream, pool, category and group.

use super::group::{self, GroupKey, normal};
use super::module_names::ModuleNames;
use super::{Population, TextFilter, pool_of, stream_of};
use crate::analysis::track::allocations::{AllocationId, Origin};
use crate::analysis::track::category::Category;
use crate::analysis::track::stack_title::place;
use crate::base::ShortSort;
use crate::trace::{EventContext, Frame, PoolId, StackId, Trace};
use hashbrown::HashSet;
use std::ops::{Range, RangeInclusive};

/// Conditions on allocations; by default all allocations pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Text in a frame, a place, the module, the category, a surrounding span's name, an annotation, or the context of
    /// the event.
    pub text: Option<TextFilter>,
    pub size_bytes: RangeInclusive<u64>,
    /// Numbers of moments at which allocations are alive, within the trace.
    pub lifetime_events: RangeInclusive<u32>,
    pub stream: Option<u64>,
    /// Pool; an allocation whose pool is not in the file does not pass.
    pub pool: Option<PoolId>,
    pub categories: Option<Vec<Category>>,
    /// Group of a grouping, such as one stack or all stacks with a frame.
    pub group: Option<GroupKey>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            text: None,
            size_bytes: 0..=u64::MAX,
            lifetime_events: 0..=u32::MAX,
            stream: None,
            pool: None,
            categories: None,
            group: None,
        }
    }
}

impl Filter {
    pub fn needs_categories(&self) -> bool {
        self.text.is_some() || self.categories.is_some() || matches!(self.group, Some(GroupKey::Category(_)))
    }
}

/// Filter with its text and group already looked up in a trace.
pub(super) struct Matcher<'a> {
    population: &'a Population<'a>,
    filter: &'a Filter,
    /// True for each stack of the group, by stack index; `None` if the group does not depend on stacks.
    group_stacks: Option<Vec<bool>>,
    text: Option<TextMatches>,
}

/// Stacks, contexts, categories and moments that a text matches.
struct TextMatches {
    stacks: Vec<bool>,
    contexts: Vec<bool>,
    categories: [bool; Category::ALL.len()],
    named: HashSet<AllocationId>,
    /// Moments of birth within matching spans, ascending and disjoint.
    births: Vec<Range<u32>>,
    /// True if a context or the name of a span matches.
    is_in_events: bool,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(population: &'a Population<'a>, filter: &'a Filter) -> Self {
        let text = filter.text.as_ref().map(|text| TextMatches::find(population, text));
        let group_stacks = filter.group.and_then(|key| group::stacks_of(population.trace, key));
        Self { population, filter, group_stacks, text }
    }

    pub(super) fn matches(&self, id: AllocationId) -> bool {
        let Self { population: Population { trace, device, timeline, .. }, filter, .. } = self;
        let allocations = &timeline.allocations;
        if !filter.size_bytes.contains(&allocations.size_bytes[id.index()]) {
            return false;
        }
        let died = allocations.died[id.index()].min(timeline.events() + 1);
        if !filter.lifetime_events.contains(&(died - allocations.born_at(id.0))) {
            return false;
        }
        let is_of_category = |categories: &Vec<Category>| categories.contains(&self.population.category(id));
        if !filter.categories.as_ref().is_none_or(is_of_category) {
            return false;
        }
        let origin = || allocations.origin(id);
        filter.stream.is_none_or(|stream| stream_of(trace, device, origin()) == Some(stream))
            && filter.pool.is_none_or(|pool| pool_of(trace, device, origin()) == Some(pool))
            && self.is_of_group(id)
            && self.text.as_ref().is_none_or(|text| self.has_text(id, text))
    }

    fn is_of_group(&self, id: AllocationId) -> bool {
        match (self.filter.group, &self.group_stacks) {
            (None, _) => true,
            (Some(_), Some(stacks)) => stacks[self.stack(id).index()],
            (Some(key), None) => group::plain_key(self.population, id, key.by()) == Some(key),
        }
    }

    fn has_text(&self, id: AllocationId, text: &TextMatches) -> bool {
        let Population { device, timeline, .. } = self.population;
        if text.stacks[self.stack(id).index()]
            || text.categories[self.population.category(id) as usize]
            || text.named.contains(&id)
        {
            return true;
        }
        if !text.is_in_events {
            return false;
        }
        let Origin::Event(event) = timeline.allocations.origin(id) else { return false };
        let born = event as u32 + 1;
        let after = text.births.partition_point(|births| births.end <= born);
        text.contexts[device.events.contexts().at(event).index()]
            || text.births.get(after).is_some_and(|births| births.contains(&born))
    }

    fn stack(&self, id: AllocationId) -> StackId {
        normal(self.population.timeline.allocations.allocation_stack(id, self.population.device))
    }
}

impl TextMatches {
    fn find(population: &Population<'_>, text: &TextFilter) -> Self {
        let trace = population.trace;
        let frames: Vec<bool> = trace.frames.iter().map(|frame| is_in_frame(trace, frame, text)).collect();
        let modules = ModuleNames::of(trace);
        let mut stacks = vec![false; trace.stacks.len()];
        for stack in trace.stacks.ids() {
            let is_framed = trace.stacks.frames(stack).iter().any(|frame| frames[frame.index()]);
            stacks[stack.index()] = is_framed || text.is_in(modules.name(modules.of_stack(stack.index())));
        }
        let contexts: Vec<bool> = trace.contexts.iter().map(|context| is_in_context(trace, context, text)).collect();
        let births = births(population, text);
        let is_in_events = contexts.contains(&true) || !births.is_empty();
        let categories = Category::ALL.map(|category| !population.categories.is_empty() && text.is_in(category.name()));
        let names = population.timeline.names.iter().filter(|name| text.is_in(trace.strings.whole(name.text)));
        let named = names.map(|name| name.allocation).collect();
        Self { stacks, contexts, categories, named, births, is_in_events }
    }
}

/// Returns true if a name, a path with its line, or a place as tables write it contains the text.
fn is_in_frame(trace: &Trace, frame: &Frame, text: &TextFilter) -> bool {
    let (name, filename) = (trace.strings.whole(frame.name), trace.strings.whole(frame.filename));
    text.is_in(name)
        || text.is_in(&format!("{filename}:{}", frame.line))
        || text.is_in(&place(name, filename, frame.line))
}

fn is_in_context(trace: &Trace, context: &EventContext, text: &TextFilter) -> bool {
    let texts = [context.user_metadata, context.category, context.compile_context, context.internal_metadata];
    texts.into_iter().any(|id| text.is_in(trace.strings.whole(id)))
}

/// Returns the moments of birth within spans whose names contain the text.
fn births(population: &Population<'_>, text: &TextFilter) -> Vec<Range<u32>> {
    let named = population.spans.iter().filter(|span| text.is_in(population.trace.strings.whole(span.name)));
    let mut births: Vec<Range<u32>> = named.map(|span| span.start_moment + 1..span.end_moment + 1).collect();
    births.short_sort_by_key(|births| births.start);
    births.dedup_by(|next, last| {
        let is_joined = next.start <= last.end;
        if is_joined {
            last.end = last.end.max(next.end);
        }
        is_joined
    });
    births
}
