//! Groups allocations of a selection by a common property, and looks up streams and pools in events and segments.

use super::module_names::ModuleNames;
use super::{Population, Weigher};
use crate::analysis::ask::call_tree::{MergeBy, merged};
use crate::analysis::track::allocations::{AllocationId, Allocations, Origin};
use crate::analysis::track::category::Category;
use crate::base::{ShortSort, StringId};
use crate::trace::{Device, EventContext, FrameId, PoolId, Segment, StackId, Trace};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupBy {
    #[default]
    Stack,
    /// Each frame of the stack that allocated; the groups overlap.
    Frame,
    /// Each function of the stack that allocated, on any of its lines; the groups overlap.
    Function,
    Module,
    /// Purpose of the allocation, such as parameter or activation.
    Category,
    Stream,
    Pool,
    /// Largest power of two that is not greater than the size.
    SizeClass,
}

crate::names!(GroupBy {
    Stack => "stack",
    Frame => "frame",
    Function => "function",
    Module => "module",
    Category => "category",
    Stream => "stream",
    Pool => "pool",
    SizeClass => "size",
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GroupKey {
    /// Stack, [`StackId::NONE`] without frames.
    Stack(StackId),
    /// Frame of the stack, `None` without frames.
    Frame(Option<FrameId>),
    /// Function of the stack, given by the first frame with its name and file; `None` without frames.
    Function(Option<FrameId>),
    /// Module, by its position among those of the trace; [`StringId::EMPTY`] if none is known.
    Module(StringId),
    Category(Category),
    /// Raw stream handle, if known.
    Stream(Option<u64>),
    Pool(Option<PoolId>),
    /// Sizes of at least 2^n and below 2^(n + 1), given as n; empty allocations count as one byte.
    SizeClass(u32),
}

impl GroupKey {
    pub fn by(self) -> GroupBy {
        match self {
            Self::Stack(_) => GroupBy::Stack,
            Self::Frame(_) => GroupBy::Frame,
            Self::Function(_) => GroupBy::Function,
            Self::Module(_) => GroupBy::Module,
            Self::Category(_) => GroupBy::Category,
            Self::Stream(_) => GroupBy::Stream,
            Self::Pool(_) => GroupBy::Pool,
            Self::SizeClass(_) => GroupBy::SizeClass,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub bytes: u64,
    pub count: u64,
    /// Part of `bytes` that was allocated before the trace.
    pub initial_bytes: u64,
    pub weight: u64,
}

impl Totals {
    pub fn of(population: &Population<'_>, selection: &[AllocationId], weigher: &Weigher<'_>) -> Self {
        let mut totals = Self::default();
        selection.iter().for_each(|&id| totals.add(&Self::of_one(population, id, weigher)));
        totals
    }

    fn of_one(population: &Population<'_>, id: AllocationId, weigher: &Weigher<'_>) -> Self {
        let allocations = &population.timeline.allocations;
        let bytes = allocations.size_bytes[id.index()];
        let initial_bytes = if allocations.is_initial(id) { bytes } else { 0 };
        Self { bytes, count: 1, initial_bytes, weight: weigher.weigh(id) }
    }

    /// Adds with saturation, because a damaged file may claim more than 2^64 bytes.
    fn add(&mut self, other: &Self) {
        let Self { bytes, count, initial_bytes, weight } = self;
        *bytes = bytes.saturating_add(other.bytes);
        *count += other.count;
        *initial_bytes = initial_bytes.saturating_add(other.initial_bytes);
        *weight = weight.saturating_add(other.weight);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub key: GroupKey,
    pub totals: Totals,
}

#[derive(Clone, Debug)]
pub struct Groups {
    /// Groups, the heaviest first.
    pub rows: Vec<Group>,
    /// Sums over the whole selection; overlapping groups add up to more.
    pub totals: Totals,
    modules: Option<ModuleNames>,
}

impl Groups {
    pub(super) fn module(&self, id: StringId) -> &str {
        self.modules.as_ref().map_or("", |modules| modules.name(id))
    }
}

/// Groups a selection.
///
/// Allocations without frames form one group. It includes memory from before the trace that the trace frees, because no
/// event records who allocated it.
///
/// Cost: one table look-up per allocation, and one pass over the frames of the selected stacks.
pub fn group(population: &Population<'_>, selection: &[AllocationId], weigher: &Weigher<'_>, by: GroupBy) -> Groups {
    let modules = (by == GroupBy::Module).then(|| ModuleNames::of(population.trace));
    let mut sums: HashMap<GroupKey, Totals> = HashMap::new();
    let mut add = |key: GroupKey, totals: &Totals| sums.entry(key).or_default().add(totals);
    match by {
        GroupBy::Stack | GroupBy::Frame | GroupBy::Function | GroupBy::Module => {
            let functions =
                if by == GroupBy::Function { merged(population.trace, MergeBy::Function) } else { Vec::new() };
            for (stack, totals) in by_stack(population, selection, weigher) {
                let keys = stack_keys(population.trace, stack, by, modules.as_ref(), &functions);
                keys.into_iter().for_each(|key| add(key, &totals));
            }
        }
        _ => {
            for &id in selection {
                if let Some(key) = plain_key(population, id, by) {
                    add(key, &Totals::of_one(population, id, weigher));
                }
            }
        }
    }
    let mut rows: Vec<Group> = sums.into_iter().map(|(key, totals)| Group { key, totals }).collect();
    rows.short_sort_by_key(|row| (Reverse(row.totals.weight), Reverse(row.totals.bytes), row.key));
    Groups { rows, totals: Totals::of(population, selection, weigher), modules }
}

/// Maps all stacks without frames to [`StackId::NONE`].
pub(super) fn normal(stack: StackId) -> StackId {
    if stack.has_frames() { stack } else { StackId::NONE }
}

/// Returns the key of an allocation for groupings that do not depend on stacks, `None` for the others.
pub(super) fn plain_key(population: &Population<'_>, id: AllocationId, by: GroupBy) -> Option<GroupKey> {
    let Population { trace, device, timeline, .. } = population;
    let origin = || timeline.allocations.origin(id);
    Some(match by {
        GroupBy::Category => GroupKey::Category(population.category(id)),
        GroupBy::Stream => GroupKey::Stream(stream_of(trace, device, origin())),
        GroupBy::Pool => GroupKey::Pool(pool_of(trace, device, origin())),
        GroupBy::SizeClass => GroupKey::SizeClass(timeline.allocations.size_bytes[id.index()].max(1).ilog2()),
        GroupBy::Stack | GroupBy::Frame | GroupBy::Function | GroupBy::Module => return None,
    })
}

/// Returns, for each stack of the trace, whether it is in a group; `None` for groups that do not depend on stacks.
pub(super) fn stacks_of(trace: &Trace, key: GroupKey) -> Option<Vec<bool>> {
    let all = || (0..trace.stacks.len()).map(StackId::from_index);
    let has_frame = |stack, wanted: Option<FrameId>, of: &dyn Fn(FrameId) -> FrameId| match wanted {
        Some(wanted) => trace.stacks.frames(stack).iter().any(|&frame| of(frame) == wanted),
        None => !stack.has_frames(),
    };
    Some(match key {
        GroupKey::Stack(wanted) => all().map(|stack| stack == wanted).collect(),
        GroupKey::Frame(wanted) => all().map(|stack| has_frame(stack, wanted, &|frame| frame)).collect(),
        GroupKey::Function(wanted) => {
            let functions = merged(trace, MergeBy::Function);
            all().map(|stack| has_frame(stack, wanted, &|frame| functions[frame.index()])).collect()
        }
        GroupKey::Module(wanted) => {
            let modules = ModuleNames::of(trace);
            all().map(|stack| modules.of_stack(stack.index()) == wanted).collect()
        }
        _ => return None,
    })
}

fn by_stack(population: &Population<'_>, selection: &[AllocationId], weigher: &Weigher<'_>) -> Vec<(StackId, Totals)> {
    let Population { trace, device, timeline, .. } = population;
    let mut sums = vec![Totals::default(); trace.stacks.len()];
    for &id in selection {
        let stack = normal(timeline.allocations.allocation_stack(id, device));
        sums[stack.index()].add(&Totals::of_one(population, id, weigher));
    }
    let used = sums.into_iter().enumerate().filter(|(_, totals)| totals.count > 0);
    used.map(|(index, totals)| (StackId::from_index(index), totals)).collect()
}

/// Returns the keys of a stack; `functions` are those of all frames if they are what is grouped by.
fn stack_keys(
    trace: &Trace,
    stack: StackId,
    by: GroupBy,
    modules: Option<&ModuleNames>,
    functions: &[FrameId],
) -> Vec<GroupKey> {
    let key = |frame| if by == GroupBy::Frame { GroupKey::Frame(frame) } else { GroupKey::Function(frame) };
    match (by, modules, trace.stacks.frames(stack)) {
        (_, Some(modules), _) => vec![GroupKey::Module(modules.of_stack(stack.index()))],
        (GroupBy::Stack, ..) => vec![GroupKey::Stack(stack)],
        (_, _, []) => vec![key(None)],
        (_, _, frames) => {
            let function = |frame: &FrameId| functions.get(frame.index()).copied().unwrap_or(*frame);
            let mut frames: Vec<FrameId> = frames.iter().map(function).collect();
            // A recursive function counts once per stack.
            frames.sort_unstable();
            frames.dedup();
            frames.into_iter().map(|frame| key(Some(frame))).collect()
        }
    }
}

/// Returns the raw handle of an allocation's stream, if its event or segment records it.
pub fn stream_of(trace: &Trace, device: &Device, origin: Origin) -> Option<u64> {
    let of_event = context_of(trace, device, origin).map(|context| context.stream);
    of_event.or_else(|| segment_of(device, origin).map(|segment| segment.stream))
}

/// Returns the pool of an allocation, if its event or segment records it; `(0, 0)` is the default pool.
pub fn pool_of(trace: &Trace, device: &Device, origin: Origin) -> Option<PoolId> {
    let of_event = context_of(trace, device, origin).and_then(|context| context.pool);
    of_event.or_else(|| segment_of(device, origin).and_then(|segment| segment.pool))
}

/// Returns the distinct streams and pools of all allocations of a device.
///
/// Events share their contexts, and each context is examined only once.
pub fn streams_and_pools(
    trace: &Trace,
    device: &Device,
    allocations: &Allocations,
) -> (BTreeSet<u64>, BTreeSet<PoolId>) {
    let contexts = device.events.contexts();
    let mut is_seen = vec![false; trace.contexts.len()];
    let (mut streams, mut pools) = (BTreeSet::new(), BTreeSet::new());
    for origin in allocations.ids().map(|id| allocations.origin(id)) {
        let context = match origin {
            Origin::Event(event) | Origin::UnmatchedFree(event) => Some(contexts.at(event).index()),
            Origin::Block(_) => None,
        };
        if context.is_none_or(|context| !std::mem::replace(&mut is_seen[context], true)) {
            streams.extend(stream_of(trace, device, origin));
            pools.extend(pool_of(trace, device, origin));
        }
    }
    (streams, pools)
}

/// Returns the context of the event that records an allocation; blocks have none.
fn context_of<'a>(trace: &'a Trace, device: &Device, origin: Origin) -> Option<&'a EventContext> {
    let (Origin::Event(event) | Origin::UnmatchedFree(event)) = origin else { return None };
    Some(trace.contexts.get(device.events.contexts().at(event)))
}

/// Returns the segment of an allocation that only its block records.
fn segment_of(device: &Device, origin: Origin) -> Option<&Segment> {
    let Origin::Block(block) = origin else { return None };
    let after = device.segments.segments.partition_point(|segment| segment.blocks.1 as usize <= block);
    device.segments.segments.get(after)
}
