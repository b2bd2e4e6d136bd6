//! Tells intended growth from leaks: larger batches, more trained layers, a cache that is filled token by token.
//!
//! A tensor that replaces the previous step's tensor is no leak, however much larger it is, unless tensors are
//! concatenated into a larger one each time. An optimizer that gets more parameters creates no more state than there
//! are weights. Weights of a model that grows are all trained: each of them gets a gradient in the last step, which those
//! of an old model that something keeps do not.
//!
//! A capture of a CUDA graph allocates from a pool of its own, which keeps its segments as long as the graph: each
//! replay writes to the same addresses. What stays from one capture to the next is neither kept by mistake nor a step's
//! memory.
//!
//! Invariant: the page, tables and findings take the same growth for a leak.

use crate::analysis::study::growth::{GrowthClass, Kept};
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::{Operation, Rounds, SpineId};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::stack_title::own_frame;
use crate::base::ShortSort;
use crate::trace::{Device, PoolId, Segment, StackId};
use hashbrown::HashMap;

/// Number of tensors of each size.
type Counts = HashMap<u64, u64>;

/// Each growth of a concatenated tensor may differ from the average growth by at most 1/8 of it.
const MOST_UNEVEN: u64 = 8;

/// Fewer tensors per step whose sizes are those of weights may be a coincidence.
const LEAST_COPIES: u64 = 4;

/// Reclassifies leaks that are intended growth.
pub(in crate::analysis) fn settle(study: &mut Study<'_>) {
    if study.growth.growing().next().is_none() {
        return;
    }
    let mut weights = lasting_sizes(study);
    let trained = trained_sizes(study);
    for (&size, &count) in &trained {
        weights.entry(size).and_modify(|lasting| *lasting = count.max(*lasting)).or_insert(count);
    }
    let captured = Captured::of(study.device);
    let class_of = |kept: &Kept| match kept.latest {
        Some(latest) if captured.has(&study.timeline.allocations, latest) => None,
        _ => class(study, kept, &weights, &trained),
    };
    let classes: Vec<Option<GrowthClass>> = study.growth.kept.iter().map(class_of).collect();
    study.growth.kept.iter_mut().zip(classes).for_each(|(kept, class)| kept.reclass(class));
    study.growth.sort();
}

fn class(study: &Study<'_>, kept: &Kept, weights: &Counts, trained: &Counts) -> Option<GrowthClass> {
    if kept.class != Some(GrowthClass::Leak) {
        return kept.class;
    }
    let is_called_without_input = study.rounds.as_ref().is_some_and(|rounds| !rounds.have_inputs);
    let is_token = is_generating_tokens(study);
    if is_called_without_input && !is_token && !study.sites.of_stack(kept.stack).is_kv_cache {
        // The rounds are layers, whose tensors belong to one forward pass.
        return None;
    }
    if is_token && study.kind == RunKind::Generation {
        return Some(GrowthClass::Cache);
    }
    if kept.is_replaced {
        return is_joined(study, kept).then_some(GrowthClass::Leak);
    }
    if study.phases.are_told() && kept.phase == Phase::Setup && fits(study, kept.stack, |size| of(trained, size)) {
        return None;
    }
    let is_state = study.phases.are_told() && kept.phase == Phase::Optimizer;
    // Weights in 16 bits may have state in 32 bits, so weights of half the size count too.
    if is_state && fits(study, kept.stack, |size| of(weights, size) + of(weights, size / 2)) {
        return Some(GrowthClass::OptimizerState);
    }
    Some(GrowthClass::Leak)
}

/// Returns true if the rounds of a generation are single tokens, which means at most 1.5 model calls per round.
///
/// With more calls, each round is a prompt or a turn and contains a loop over tokens.
pub(in crate::analysis) fn is_generating_tokens(study: &Study<'_>) -> bool {
    let is_fine = |rounds: &super::sites::Rounds| rounds.calls <= rounds.rounds.len() + rounds.rounds.len() / 2;
    study.kind == RunKind::Generation && study.rounds.as_ref().is_some_and(is_fine)
}

/// Returns true if the tensor of a step contains the tensor of the step before and more.
fn is_joined(study: &Study<'_>, kept: &Kept) -> bool {
    let site = study.sites.of_stack(kept.stack);
    if site.is_kv_cache {
        return true;
    }
    let may_be = match site.operation {
        Operation::Join => true,
        _ if kept.count_per_step > 1 => false,
        // Without a known operation, only a tensor of the program itself that grows by the same amount each time
        // counts.
        Operation::Unknown => !site.in_module && grows_evenly(&sizes(study, kept.stack)),
        _ => site.spine == SpineId::NONE && grows_evenly(&sizes(study, kept.stack)),
    };
    may_be && !is_of_larger_batches(study, kept.stack)
}

/// Returns the sizes of a stack's allocations in order of time, without those of before the recording.
fn sizes(study: &Study<'_>, stack: StackId) -> Vec<u64> {
    let allocations = &study.timeline.allocations;
    let of_stack = |id: &AllocationId| allocations.allocation_stack(*id, study.device) == stack;
    let rows = allocations.ids().skip(allocations.initial_count()).filter(of_stack);
    rows.map(|id| allocations.size_bytes[id.index()]).collect()
}

/// Returns true if sizes rise evenly: each by the average rise, within 1/8 of it.
fn grows_evenly(sizes: &[u64]) -> bool {
    let (Some(&first), Some(&last)) = (sizes.first(), sizes.last()) else { return false };
    let rise = last.saturating_sub(first) / (sizes.len() as u64 - 1).max(1);
    let is_even = |pair: &[u64]| pair[1].saturating_sub(pair[0]).abs_diff(rise) * MOST_UNEVEN <= rise;
    rise > 0 && sizes.len() > 2 && sizes.windows(2).all(is_even)
}

/// Returns true if what forward passes allocate grows at least half as fast as the tensors of a stack.
///
/// Then the model computes on more samples or longer ones, and a tensor that takes another's place is their batch or
/// made of it. A tensor to which something is added leaves the rest of the pass as large as it was.
fn is_of_larger_batches(study: &Study<'_>, stack: StackId) -> bool {
    let allocations = &study.timeline.allocations;
    let bytes_of = |step: &Step| {
        let rows = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
        rows.fold((0u64, 0u64), |(own, others), id| {
            let born_of = allocations.allocation_stack(id, study.device);
            let bytes = allocations.size_bytes(id);
            let is_forward = || study.phases.of_birth(allocations.born_at(id.0), born_of) == Phase::Forward;
            if born_of == stack { (own + bytes, others) } else { (own, others + if is_forward() { bytes } else { 0 }) }
        })
    };
    // What the first step needs may come before it.
    let steps: Vec<(u64, u64)> = study.repeats().iter().map(bytes_of).filter(|(own, _)| *own > 0).collect();
    // A step more in one half would count as growth.
    let half = steps.len() / 2;
    let sum = |steps: &[(u64, u64)]| steps.iter().fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
    let (early, late) = (sum(&steps[..half]), sum(&steps[steps.len() - half..]));
    let rise = |early: u64, late: u64| late.saturating_sub(early) as f64 / early.max(1) as f64;
    2.0 * rise(early.1, late.1) >= rise(early.0, late.0)
}

/// Counts the allocations of each size, weights among them, that exist before the first step and survive the last.
pub(in crate::analysis) fn lasting_sizes(study: &Study<'_>) -> Counts {
    let allocations = &study.timeline.allocations;
    let first = study.repeats().first().map_or(0, |step| step.start);
    let last = study.repeats().last().map_or(0, |step| step.end);
    let lasts = |id| allocations.dies_after(id, last.saturating_sub(1));
    count(allocations.alive_at(first).filter(|&(id, _)| lasts(id)).map(|row| row.1))
}

/// Counts the gradients of each size that the last step allocates.
pub(in crate::analysis) fn trained_sizes(study: &Study<'_>) -> Counts {
    let allocations = &study.timeline.allocations;
    let Some(step) = study.repeats().last() else { return Counts::new() };
    let rows = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
    let is_gradient = |id: &AllocationId| {
        let born = allocations.born_at(id.0);
        let phase = study.phases.of_birth(born, allocations.allocation_stack(*id, study.device));
        phase == Phase::Backward && study.phases.outlives_backward(born, allocations.died[id.index()])
    };
    count(rows.filter(is_gradient).map(|id| allocations.size_bytes(id)))
}

/// Returns true if at least 9/10 of the tensors that a line leaves in a step match weights in size and in number per
/// size.
///
/// All may be half or twice as large, as casts are. Tensors of a module must all match.
pub(in crate::analysis) fn has_sizes_of_weights(study: &Study<'_>, kept: &Kept, weights: &Counts) -> bool {
    let allocations = &study.timeline.allocations;
    let repeats = study.repeats();
    let Some(latest) = kept.latest else { return false };
    let born = allocations.born_at(latest.0);
    let Some(step) = repeats.iter().find(|step| step.contains(born)) else { return false };
    let end = repeats.last().map_or(0, |step| step.end);
    let frame = own_frame(study.trace, kept.stack, false);
    let is_of_line =
        |stack: StackId| stack == kept.stack || frame.is_some() && own_frame(study.trace, stack, false) == frame;
    let rows = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
    let kept_rows = rows.filter(|&id| {
        allocations.dies_after(id, end.saturating_sub(1)) && is_of_line(allocations.allocation_stack(id, study.device))
    });
    let counts = count(kept_rows.map(|id| allocations.size_bytes(id)));
    let all: u64 = counts.values().sum();
    let is_cast = |factor: fn(u64) -> u64| {
        let fitting: u64 = counts.iter().map(|(&size, &count)| count.min(of(weights, factor(size)))).sum();
        if study.sites.of_stack(kept.stack).in_module { fitting == all } else { fitting * 10 >= all * 9 }
    };
    let factors: [fn(u64) -> u64; 3] = [|size| size, |size| size.saturating_mul(2), |size| size / 2];
    counts.len() > 1 && all >= LEAST_COPIES && factors.into_iter().any(is_cast)
}

fn count(sizes: impl Iterator<Item = u64>) -> Counts {
    let mut counts = Counts::new();
    sizes.for_each(|size| *counts.entry(size).or_default() += 1);
    counts
}

fn of(counts: &Counts, size: u64) -> u64 {
    counts.get(&size).copied().unwrap_or(0)
}

/// Returns true if a stack holds, of each size, no more tensors at the end of the last step than `most` allows.
fn fits(study: &Study<'_>, stack: StackId, most: impl Fn(u64) -> u64) -> bool {
    let allocations = &study.timeline.allocations;
    let last = study.repeats().last().map_or(0, |step| step.end);
    let is_of_stack = |id| !allocations.is_initial(id) && allocations.allocation_stack(id, study.device) == stack;
    let counts = count(allocations.alive_at(last).filter(|&(id, _)| is_of_stack(id)).map(|row| row.1));
    counts.iter().all(|(&size, &count)| count <= most(size))
}

/// Address ranges of private pools, sorted.
pub(in crate::analysis) struct Captured<'a> {
    device: &'a Device,
    ranges: Vec<(u64, u64)>,
}

impl<'a> Captured<'a> {
    pub(in crate::analysis) fn of(device: &'a Device) -> Self {
        let segments = device.segments.segments.iter().filter(|segment| is_private(segment));
        let mut ranges: Vec<_> = segments.map(|one| (one.addr, one.addr.saturating_add(one.size_bytes))).collect();
        ranges.short_sort_by(Ord::cmp);
        Self { device, ranges }
    }

    /// Returns true if an allocation lies in a private pool.
    pub(in crate::analysis) fn has(&self, allocations: &Allocations, id: AllocationId) -> bool {
        if self.ranges.is_empty() {
            return false;
        }
        let addr = allocations.get(id, self.device).addr;
        let after = self.ranges.partition_point(|&(start, _)| start <= addr);
        after > 0 && addr < self.ranges[after - 1].1
    }

    /// Leaves out rounds that capture a graph; too few others are no repetition.
    pub(in crate::analysis) fn without_captures(
        &self,
        allocations: &Allocations,
        mut rounds: Rounds,
    ) -> Option<Rounds> {
        let before = rounds.rounds.len();
        rounds.rounds.retain(|round| {
            let mut born = (allocations.born_by(round.start)..allocations.born_by(round.end)).map(AllocationId);
            self.ranges.is_empty() || !born.any(|id| self.has(allocations, id))
        });
        (rounds.rounds.len() == before || rounds.rounds.len() >= Rounds::LEAST).then_some(rounds)
    }
}

/// Returns true if a segment belongs to the pool of a CUDA graph or to a `MemPool`.
pub(in crate::analysis) fn is_private(segment: &Segment) -> bool {
    segment.pool.is_some_and(|pool| pool != PoolId::default())
}
