//! Collects the tensors that a step's forward keeps for backward, and compares what stays with what backward frees.
//!
//! Idea: a graph that stays keeps everything that backward would have freed, up to the last tensor that stays. A hook, a
//! cache or a list keeps single tensors of a pass, of which backward frees the others.

use crate::analysis::study::growth::Kept;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::SpineId;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime, most_together};
use crate::base::ShortSort;
use crate::trace::{Action, StackId};
use hashbrown::{HashMap, HashSet};

/// At least 1/4 of the stacks of a forward pass, or 1/2 of its bytes, must remain, to infer that the graph is kept.
const LEAST_OF_GRAPH: usize = 4;

/// Fewer tensors are single ones, however small the model.
const LEAST_TENSORS_OF_GRAPH: usize = 3;

/// Fraction of steps whose backward must allocate more often than that of the step before.
const LEAST_LONGER: f64 = 0.8;

/// The last backward must have at least 1.3 times as many allocations as the second.
const LEAST_LENGTHENED: f64 = 1.3;

/// The last 1/4 of forward's allocations count as its end.
const END_OF_FORWARD: usize = 4;

/// Number and bytes of some tensors.
#[derive(Clone, Copy, Default)]
struct Sum(usize, u64);

impl Sum {
    fn add(&mut self, other: Self) {
        *self = Self(self.0 + other.0, self.1.saturating_add(other.1));
    }
}

/// Tensors of a pass, as far as rows of growing memory keep some of them.
pub(in crate::analysis) struct LeftOfPass {
    pub(in crate::analysis) step: Step,
    /// Those that stay.
    kept: Sum,
    /// All that wait for backward, from the first to the last that stays.
    saved: Sum,
    /// All that wait for backward.
    all: Sum,
}

impl LeftOfPass {
    /// Examines the step nearest to the middle one that leaves some of the rows until the end.
    pub(in crate::analysis) fn of(study: &Study<'_>, rows: &[&Kept]) -> Self {
        let stacks: HashSet<StackId> = rows.iter().map(|kept| kept.stack).collect();
        let step = keeping_step(study, &stacks);
        let next = step.end.saturating_add(step.end - step.start).min(study.timeline.events() - 1);
        Self::at(study, rows, step, next)
    }

    /// Examines a step; what is alive after the moment `next` stays.
    pub(in crate::analysis) fn at(study: &Study<'_>, rows: &[&Kept], step: Step, next: u32) -> Self {
        let allocations = &study.timeline.allocations;
        let stacks: HashSet<StackId> = rows.iter().map(|kept| kept.stack).collect();
        let mut left = Self { step, kept: Sum::default(), saved: Sum::default(), all: Sum::default() };
        let mut after = Sum::default();
        // Within a loop without backward, what the next round frees has waited for nothing.
        let waits = |run: usize, died: u32| {
            let backward = study.phases.start_of_backward(run);
            study.phases.leaves(run, died) && backward.is_none_or(|start| died > start)
        };
        for row in allocations.born_by(step.start)..allocations.born_by(step.end) {
            let (id, tensor) = (AllocationId(row), Sum(1, allocations.size_bytes[row as usize]));
            let run = study.phases.run_of(allocations.born_at(row));
            let stack = allocations.allocation_stack(id, study.device);
            let is_kept = stacks.contains(&stack) && allocations.dies_after(id, next);
            let is_forward = || matches!(study.phases.of_birth_in(run, stack), Phase::Forward | Phase::Evaluation);
            if is_kept {
                left.kept.add(tensor);
                left.saved.add(std::mem::take(&mut after));
                left.saved.add(tensor);
                left.all.add(tensor);
            } else if is_forward() && waits(run, allocations.died[row as usize]) {
                after.add(if left.kept.0 > 0 { tensor } else { Sum::default() });
                left.all.add(tensor);
            }
        }
        left
    }

    /// Returns true if everything stays that backward would have freed.
    pub(in crate::analysis) fn is_graph(&self, study: &Study<'_>, rows: &[&Kept]) -> bool {
        let pass = ForwardPass::of(study, self.step);
        let of_pass: Vec<&PassRow> = rows.iter().filter_map(|kept| pass.by_stack.get(&kept.stack)).collect();
        let bytes_of_pass = of_pass.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
        let are_many =
            of_pass.len() * LEAST_OF_GRAPH >= pass.by_stack.len() || bytes_of_pass.saturating_mul(2) >= pass.bytes;
        let is_hooked = rows.iter().all(|kept| study.sites.of_stack(kept.stack).is_hooked);
        // If gradients are on and backward never comes, two tensors are enough.
        let least = if study.kind == RunKind::Forward { 2 } else { LEAST_TENSORS_OF_GRAPH };
        let Self { kept, saved, .. } = self;
        let is_whole = kept.0 * 5 >= saved.0 * 4 && kept.1.saturating_mul(10) >= saved.1.saturating_mul(9);
        !is_hooked && are_many && kept.0 >= least && is_whole
    }

    /// Returns true if at least 3/4 of the bytes of the whole pass stay, so that backward freed nothing.
    ///
    /// If only some of them remain, backward freed the rest, and the graph that remains is one that backward never passed.
    pub(in crate::analysis) fn is_whole_pass(&self) -> bool {
        self.kept.1.saturating_mul(4) >= self.all.1.saturating_mul(3)
    }
}

/// Returns the step nearest to the middle one that leaves some of the rows until the end.
///
/// Not every step may keep something.
fn keeping_step(study: &Study<'_>, stacks: &HashSet<StackId>) -> Step {
    let allocations = &study.timeline.allocations;
    let steps = study.repeats();
    let middle = steps.len() / 2;
    let end = steps.last().map_or(0, |step| step.end).saturating_sub(1);
    let keeps = |step: &Step| {
        let mut born = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
        born.any(|id| {
            allocations.dies_after(id, end) && stacks.contains(&allocations.allocation_stack(id, study.device))
        })
    };
    let mut by_distance: Vec<usize> = (0..steps.len()).collect();
    by_distance.short_sort_by_key(|&index| index.abs_diff(middle));
    by_distance.into_iter().map(|index| steps[index]).find(keeps).unwrap_or(steps[middle])
}

/// Returns true if the backward of most steps allocates more often than that of the step before.
pub(in crate::analysis) fn backward_lengthens(study: &Study<'_>, steps: &[Step]) -> bool {
    let lengths: Vec<usize> = steps.iter().map(|&step| allocs_of(study, step, Phase::Backward).len()).collect();
    let pairs = lengths.len().saturating_sub(1);
    let longer = lengths.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let second = lengths.get(1).copied().unwrap_or(0).max(1);
    let last = lengths.last().copied().unwrap_or(0);
    pairs > 1 && longer as f64 >= LEAST_LONGER * pairs as f64 && last as f64 >= LEAST_LENGTHENED * second as f64
}

/// Returns the moments of a step's allocations in one phase.
fn allocs_of(study: &Study<'_>, step: Step, phase: Phase) -> Vec<u32> {
    let events = &study.device.events;
    let is_alloc = |&event: &u32| events.actions().at(event as usize) == Action::Alloc;
    let is_of_phase = |&event: &u32| study.phases.of_birth(event + 1, events.stacks().at(event as usize)) == phase;
    (step.start..step.end).filter(is_alloc).filter(is_of_phase).map(|event| event + 1).collect()
}

/// Returns true if the call of the model that allocates it allocates nothing later.
pub(in crate::analysis) fn ends_call(study: &Study<'_>, id: AllocationId) -> bool {
    let allocations = &study.timeline.allocations;
    let site = |id| study.sites.of_stack(allocations.allocation_stack(id, study.device));
    let mut later = (id.0 + 1..allocations.len() as u32).map(|row| site(AllocationId(row)));
    let next = later.find(|next| next.spine != SpineId::NONE);
    site(id).spine != SpineId::NONE && next.is_none_or(|next| !next.in_module || next.spine != site(id).spine)
}

/// Returns true if the same call of the model has allocated another tensor at that place, as each of its layers does.
pub(in crate::analysis) fn repeats_in_call(study: &Study<'_>, id: AllocationId) -> bool {
    let allocations = &study.timeline.allocations;
    let born = allocations.born_at(id.0);
    let Some(step) = study.repeats().iter().find(|step| step.contains(born)) else { return false };
    let stack_of = |row| allocations.allocation_stack(AllocationId(row), study.device);
    let (stack, spine) = (stack_of(id.0), study.sites.of_stack(stack_of(id.0)).spine);
    let is_of_call = |other: &StackId| {
        let site = study.sites.of_stack(*other);
        site.spine == SpineId::NONE || site.in_module && site.spine == spine
    };
    let earlier = (allocations.born_by(step.start)..id.0).rev().map(stack_of);
    earlier.take_while(is_of_call).any(|other| other == stack)
}

/// Returns a test for moments at the end of their step's forward.
///
/// The test compares the distance from the start of the step with that in the given step.
pub(in crate::analysis) fn end_of_forward(study: &Study<'_>, step: Step) -> impl Fn(u32) -> bool {
    let moments = allocs_of(study, step, Phase::Forward);
    let from = moments.get(moments.len() - moments.len().div_ceil(END_OF_FORWARD).min(moments.len()));
    let into_step = from.map_or(u32::MAX, |&moment| moment - step.start);
    let steps = study.repeats();
    move |moment| {
        let step = steps.iter().find(|step| step.contains(moment));
        step.is_some_and(|step| moment - step.start >= into_step)
    }
}

/// Allocations of one stack in a forward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassRow {
    /// Sum of the requested sizes.
    pub bytes: u64,
    pub count: u64,
}

/// Allocations of a step's forward at the moment when most of their bytes are alive.
///
/// This moment is the end of forward, because backward frees what it has used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForwardPass {
    /// Moment with the most bytes of forward alive.
    pub moment: u32,
    /// Bytes alive at that moment that forward allocated in this step.
    pub bytes: u64,
    /// The same bytes, by stack.
    pub by_stack: HashMap<StackId, PassRow>,
}

impl ForwardPass {
    /// Examines one step; the result is empty if the phases of the trace are unknown.
    pub fn of(study: &Study<'_>, step: Step) -> Self {
        let allocations = &study.timeline.allocations;
        let of_forward: Vec<Lifetime> = (allocations.born_by(step.start)..allocations.born_by(step.end))
            .map(|row| Lifetime::of(allocations, study.device, AllocationId(row)))
            .filter(|row| study.phases.of_birth(row.born, row.stack) == Phase::Forward)
            .collect();
        let (moment, _) = most_together(&of_forward, step.end);
        let mut pass = Self { moment, ..Self::default() };
        for row in of_forward.into_iter().filter(|row| row.is_alive_at(moment)) {
            pass.bytes += row.bytes;
            let of_stack = pass.by_stack.entry(row.stack).or_default();
            of_stack.bytes += row.bytes;
            of_stack.count += 1;
        }
        pass
    }
}
