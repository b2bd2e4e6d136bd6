//! Selections by what their allocations have in common.

use super::module_names::ModuleNames;
use super::{Population, Weigher, pool_of, stream_of};
use crate::analysis::{AllocationId, Category};
use crate::base::StringId;
use crate::trace::{FrameId, PoolId, StackId, Trace};
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// What allocations are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// The stack that allocated.
    #[default]
    Stack,
    /// Each frame of the stack that allocated: the groups overlap.
    Frame,
    /// Each function of the stack that allocated, whatever its line: the groups overlap.
    Function,
    /// The module of the model.
    Module,
    /// What it is for.
    Category,
    /// The stream.
    Stream,
    /// The pool.
    Pool,
    /// The power of two below the size.
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

/// What the allocations of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// The stack, [`StackId::NONE`] where there are no frames.
    Stack(StackId),
    /// A frame of the stack, `None` where there are no frames.
    Frame(Option<FrameId>),
    /// A function of the stack, by the first frame that has its name and file; `None` where there are no frames.
    Function(Option<FrameId>),
    /// The module, by its position among those of the trace; [`StringId::EMPTY`] where none is known.
    Module(StringId),
    /// The category.
    Category(Category),
    /// The raw stream handle, where it is known.
    Stream(Option<u64>),
    /// The pool, where it is known.
    Pool(Option<PoolId>),
    /// Sizes from two to this power on, and below the next one; empty allocations are with those of one byte.
    SizeClass(u32),
}

impl GroupKey {
    /// What it is a group of.
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

/// Sums over some allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The requested sizes.
    pub bytes: u64,
    /// How many they are.
    pub count: u64,
    /// How many of the bytes are from before the trace.
    pub initial_bytes: u64,
    /// Their weights.
    pub weight: u64,
}

impl Totals {
    /// The sums over a selection.
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

    /// A damaged file may claim more than 2^64 bytes.
    fn add(&mut self, other: &Self) {
        let Self { bytes, count, initial_bytes, weight } = self;
        *bytes = bytes.saturating_add(other.bytes);
        *count += other.count;
        *initial_bytes = initial_bytes.saturating_add(other.initial_bytes);
        *weight = weight.saturating_add(other.weight);
    }
}

/// The allocations that have a key in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// The sums over them.
    pub totals: Totals,
}

/// A selection in groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The groups, the heaviest first.
    pub rows: Vec<Group>,
    /// The sums over the whole selection, which overlapping groups don't add up to.
    pub totals: Totals,
    modules: Option<ModuleNames>,
}

impl Groups {
    /// The name of a module, of a key of these groups.
    pub(super) fn module(&self, id: StringId) -> &str {
        self.modules.as_ref().map_or("", |modules| modules.name(id))
    }
}

/// Groups a selection.
///
/// What has no frames is one group, memory from before the trace that it frees included, since nothing tells who
/// allocated that.
/// The cost is that of a table look-up for each allocation, and of one pass over the frames of the selected stacks.
pub fn group(population: &Population<'_>, selection: &[AllocationId], weigher: &Weigher<'_>, by: GroupBy) -> Groups {
    let modules = (by == GroupBy::Module).then(|| ModuleNames::of(population.trace));
    let sums = match by {
        GroupBy::Stack | GroupBy::Frame | GroupBy::Function | GroupBy::Module => {
            let stacks = by_stack(population, selection, weigher);
            by_stack_key(population.trace, &stacks, by, modules.as_ref())
        }
        _ => {
            let mut sums = HashMap::new();
            for &id in selection {
                if let Some(key) = plain_key(population, id, by) {
                    add(&mut sums, key, &Totals::of_one(population, id, weigher));
                }
            }
            sums
        }
    };
    let mut rows: Vec<Group> = sums.into_iter().map(|(key, totals)| Group { key, totals }).collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.totals.weight), Reverse(row.totals.bytes), row.key));
    Groups { rows, totals: Totals::of(population, selection, weigher), modules }
}

/// Stacks without frames are one.
pub(super) fn normal(stack: StackId) -> StackId {
    if stack.has_frames() { stack } else { StackId::NONE }
}

/// The key of an allocation that does not go by its stack.
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

/// Whether each stack of the trace is in a group, `None` for groups that don't go by stacks.
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
            let functions = functions(trace);
            all().map(|stack| has_frame(stack, wanted, &|frame| functions[frame.index()])).collect()
        }
        GroupKey::Module(wanted) => {
            let modules = ModuleNames::of(trace);
            all().map(|stack| modules.of_stack(stack.index()) == wanted).collect()
        }
        _ => return None,
    })
}

fn add<K: Eq + Hash>(sums: &mut HashMap<K, Totals>, key: K, more: &Totals) {
    sums.entry(key).or_default().add(more);
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

fn by_stack_key(
    trace: &Trace,
    stacks: &[(StackId, Totals)],
    by: GroupBy,
    modules: Option<&ModuleNames>,
) -> HashMap<GroupKey, Totals> {
    let functions = if by == GroupBy::Function { functions(trace) } else { Vec::new() };
    let mut sums = HashMap::new();
    for (stack, totals) in stacks {
        match (by, modules) {
            (GroupBy::Frame | GroupBy::Function, _) => {
                let function = |frame: FrameId| functions.get(frame.index()).copied().unwrap_or(frame);
                let mut frames: Vec<FrameId> = trace.stacks.frames(*stack).iter().map(|&id| function(id)).collect();
                // A function that calls itself is there once.
                frames.sort_unstable();
                frames.dedup();
                let key = |frame| if by == GroupBy::Frame { GroupKey::Frame(frame) } else { GroupKey::Function(frame) };
                if frames.is_empty() {
                    add(&mut sums, key(None), totals);
                }
                frames.into_iter().for_each(|frame| add(&mut sums, key(Some(frame)), totals));
            }
            (_, Some(modules)) => add(&mut sums, GroupKey::Module(modules.of_stack(stack.index())), totals),
            (_, None) => add(&mut sums, GroupKey::Stack(*stack), totals),
        }
    }
    sums
}

/// For each frame, the first one that has its name and file.
fn functions(trace: &Trace) -> Vec<FrameId> {
    let mut first = HashMap::new();
    let frames = trace.frames.iter().enumerate();
    frames
        .map(|(index, frame)| *first.entry((frame.name, frame.filename)).or_insert(FrameId::from_index(index)))
        .collect()
}
