//! Infers from stacks and lifetimes why memory grows.
//!
//! Idea: the kept tensors are judged as a set, because one reference can keep all of them alive. Tensors that only
//! backward needs are kept by a graph, and one tensor of each hooked module by its hook. What the program moved to the
//! device or computed itself is kept by one of its variables, lists or dictionaries.

use super::held;
use crate::analysis::study::by_design;
use crate::analysis::study::forward_pass::ForwardPass;
use crate::analysis::study::growth::Kept;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::{Operation, Site, SpineId};
use crate::analysis::study::step::Step;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::stack_title::own_frame;
use crate::trace::{Action, StackId};
use hashbrown::{HashMap, HashSet};
use std::cmp::Ordering;

/// At least 1/4 of the stacks of a forward pass must remain, to infer that the graph is kept.
const LEAST_OF_GRAPH: usize = 4;

/// Fewer tensors are single ones, however small the model.
const LEAST_TENSORS_OF_GRAPH: usize = 3;

/// Fewer stacks of an evaluation are single tensors.
const LEAST_STACKS_OF_EVALUATION: usize = 5;

/// Fraction of steps whose backward must allocate more often than that of the step before.
const LEAST_LONGER: f64 = 0.8;

/// The last backward must have at least 1.3 times as many allocations as the second.
const LEAST_LENGTHENED: f64 = 1.3;

/// At least 1/2 of the growing bytes must come from the end of forward, to be outputs of the model.
const LEAST_OF_OUTPUTS: u64 = 2;

/// The last 1/4 of forward's allocations count as its end.
const END_OF_FORWARD: usize = 4;

/// Tensors of up to 16 bytes are numbers, such as a loss.
const NUMBER_BYTES: u64 = 16;

/// Fewer tensors per step whose sizes are those of weights may be a coincidence.
const LEAST_COPIES: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// Autograd graphs: all tensors of a pass that backward would need.
    Graphs,
    /// Graphs that backward has passed without freeing them.
    RetainedGraphs,
    /// Graphs of a model on which backward is never called.
    GraphsOfInference,
    /// Results of a few lines of the program, including intermediate ones.
    GraphsOfOwnCode,
    /// Graphs of a pass and of its gradients, which can be differentiated again.
    GraphsOfGradients,
    ChainedState,
    /// Tensors are concatenated into a larger one.
    Joined,
    /// Keys and values of a cache are concatenated.
    KeysAndValues,
    Outputs,
    /// A module with hooks keeps one tensor per call.
    Hooked,
    /// An autograd function of the program keeps tensors as attributes of its context.
    OfFunction,
    Activations,
    /// Tensors that the program moved to the device or created there.
    Data,
    /// Copies of weights or gradients.
    Copies,
    /// Whole models with their gradients and optimizer state.
    Models,
    /// Adapters that a library adds to a model.
    Adapters,
    Gradients,
    EvaluationGraphs,
    EvaluationOutputs,
    OptimizerState,
    /// Numbers such as losses.
    Numbers,
    /// A tensor that the program computes outside of modules.
    OwnTensors,
    Unknown,
}

/// Returns the causes with the groups that each makes grow; the cause with the largest single group comes first.
pub(super) fn causes<'a>(study: &Study<'_>, growing: &[&'a Kept]) -> Vec<(Cause, Vec<&'a Kept>)> {
    let weights = by_design::lasting_sizes(study);
    let grown: Vec<(&Kept, Group)> = growing.iter().map(|&kept| (kept, of_group(study, kept, &weights))).collect();
    let own: Vec<&Kept> = of(&grown, Group::Own).collect();
    let has_gradients = of(&grown, Group::Known(Cause::Gradients)).next().is_some();
    let forward = match of_forward(study, &grown) {
        graphs if is_graph(graphs) && has_gradients => Cause::GraphsOfGradients,
        forward => forward,
    };
    let has_own_graph = own.iter().any(|kept| of_own_code(study, kept, &own) == Cause::GraphsOfOwnCode);
    let has_models = of(&grown, Group::Known(Cause::Models)).next().is_some();
    let mut causes: Vec<(Cause, Vec<&Kept>)> = Vec::new();
    for &(kept, group) in &grown {
        let cause = match group {
            Group::Known(Cause::Gradients | Cause::OptimizerState) if has_models => Cause::Models,
            Group::Known(Cause::Gradients) if is_graph(forward) => forward,
            Group::Known(cause) => cause,
            Group::Forward => forward,
            // A graph also holds its input batch and whatever is computed from its end.
            Group::Data | Group::Own if is_graph(forward) => forward,
            Group::Data if has_own_graph => Cause::GraphsOfOwnCode,
            Group::Data => Cause::Data,
            Group::Own => of_own_code(study, kept, &own),
        };
        match causes.iter_mut().find(|(other, _)| *other == cause) {
            Some((_, rows)) => rows.push(kept),
            None => causes.push((cause, vec![kept])),
        }
    }
    // If anything else is kept, a number is only a side effect of it.
    if causes.len() > 1 {
        causes.retain(|(cause, _)| *cause != Cause::Numbers);
    }
    causes
}

/// Kind of a group of allocations, judged by its own stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Known(Cause),
    /// Tensors of modules.
    Forward,
    /// Tensors that the program moved to the device or created there.
    Data,
    /// Tensors that the program computed.
    Own,
}

/// Returns the members of one group among the growing rows.
fn of<'a>(grown: &[(&'a Kept, Group)], group: Group) -> impl Iterator<Item = &'a Kept> {
    grown.iter().filter(move |row| row.1 == group).map(|row| row.0)
}

/// Determines the group; `weights` counts the tensors of each size that may be weights.
fn of_group(study: &Study<'_>, kept: &Kept, weights: &HashMap<u64, u64>) -> Group {
    let site = study.sites.of_stack(kept.stack);
    if !study.phases.are_told() {
        return Group::Known(Cause::Unknown);
    }
    if site.is_kv_cache {
        return Group::Known(Cause::KeysAndValues);
    }
    if site.is_adapter {
        return Group::Known(Cause::Adapters);
    }
    if kept.is_replaced {
        // A model without training concatenates keys and values to those of the earlier tokens.
        let is_cache = site.in_module && study.kind == RunKind::Generation;
        return Group::Known(if is_cache { Cause::KeysAndValues } else { Cause::Joined });
    }
    if is_copied(study, kept, weights) {
        return Group::Known(Cause::Copies);
    }
    if is_number(kept) {
        return Group::Known(Cause::Numbers);
    }
    let is_made = matches!(site.operation, Operation::Make | Operation::Unknown);
    match kept.phase {
        Phase::Setup => Group::Known(Cause::Models),
        Phase::Optimizer => Group::Known(Cause::OptimizerState),
        Phase::Recompute => Group::Known(Cause::Activations),
        Phase::Evaluation if site.is_collected => Group::Known(Cause::EvaluationOutputs),
        Phase::Evaluation if study.kind == RunKind::Training => Group::Known(of_evaluation(study)),
        Phase::Backward | Phase::Collective if !is_of_program(site) => Group::Known(Cause::Gradients),
        Phase::Data => Group::Data,
        _ if site.in_module => Group::Forward,
        _ if site.operation == Operation::Bring => Group::Data,
        _ if is_made && comes_before_forward(study, kept, site) => Group::Data,
        Phase::Forward | Phase::Evaluation if !is_of_program(site) => Group::Forward,
        Phase::Unknown if !is_of_program(site) => Group::Known(Cause::Unknown),
        _ => Group::Own,
    }
}

/// Returns true if a tensor of unknown operation is created before the model runs in its step.
///
/// Such a tensor is a batch and not a result.
fn comes_before_forward(study: &Study<'_>, kept: &Kept, site: Site) -> bool {
    if !is_of_program(site) {
        return false;
    }
    let allocations = &study.timeline.allocations;
    let Some(born) = kept.latest.map(|latest| allocations.born_at(latest.0)) else { return false };
    let Some(step) = study.repeats().iter().find(|step| step.contains(born)) else { return false };
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let called = |event: u32| {
        let is_alloc = actions.at(event as usize) == Action::Alloc;
        let site = study.sites.of_stack(stacks.at(event as usize));
        (is_alloc && site.in_module && !site.is_without_grad).then_some((event, site.spine))
    };
    let Some((event, spine)) = (step.start..step.end).find_map(called) else { return false };
    // A step ends with the update, and what a program creates after it is not data for the next step.
    match study.sites.order(study.trace, site.spine, spine) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => born - 1 < event,
    }
}

/// Returns true if Python code of a program is in the stack.
///
/// Backward's threads have no such frames, and our own recordings only name modules.
fn is_of_program(site: Site) -> bool {
    site.spine != SpineId::NONE
}

fn is_number(kept: &Kept) -> bool {
    kept.end_bytes <= kept.end_count.saturating_mul(NUMBER_BYTES)
}

/// Returns true if the kept tensors include a graph, which also holds inputs.
fn is_graph(cause: Cause) -> bool {
    use Cause::{ChainedState, Graphs, GraphsOfGradients, GraphsOfInference, RetainedGraphs};
    matches!(cause, Graphs | RetainedGraphs | GraphsOfInference | GraphsOfGradients | ChainedState)
}

/// Returns true if `copy.deepcopy` creates it, or if each step leaves tensors with the sizes of weights.
fn is_copied(study: &Study<'_>, kept: &Kept, weights: &HashMap<u64, u64>) -> bool {
    let site = study.sites.of_stack(kept.stack);
    if site.is_deep_copy {
        return true;
    }
    let is_copy = matches!(site.operation, Operation::Bring | Operation::Copy | Operation::Unknown | Operation::Make);
    let is_beside_optimizer = matches!(kept.phase, Phase::Unknown | Phase::Backward | Phase::Forward);
    is_copy && is_beside_optimizer && has_sizes_of_weights(study, kept, weights)
}

/// Returns true if at least 9/10 of the tensors that a line leaves in a step match weights in size and in number per
/// size.
///
/// All may be half or twice as large, as casts are. Tensors of a module must all match.
fn has_sizes_of_weights(study: &Study<'_>, kept: &Kept, weights: &HashMap<u64, u64>) -> bool {
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
    let mut counts: HashMap<u64, u64> = HashMap::new();
    kept_rows.for_each(|id| *counts.entry(allocations.size_bytes[id.index()]).or_default() += 1);
    let all: u64 = counts.values().sum();
    let is_cast = |factor: fn(u64) -> u64| {
        let of_weights = |size: u64| weights.get(&factor(size)).copied().unwrap_or(0);
        let fitting: u64 = counts.iter().map(|(&size, &count)| count.min(of_weights(size))).sum();
        if study.sites.of_stack(kept.stack).in_module { fitting == all } else { fitting * 10 >= all * 9 }
    };
    let factors: [fn(u64) -> u64; 3] = [|size| size, |size| size.saturating_mul(2), |size| size / 2];
    counts.len() > 1 && all >= LEAST_COPIES && factors.into_iter().any(is_cast)
}

/// Infers whether evaluations leave whole graphs or single tensors.
fn of_evaluation(study: &Study<'_>) -> Cause {
    let evaluated = study.growth.growing().filter(|kept| kept.phase == Phase::Evaluation).count();
    if evaluated >= LEAST_STACKS_OF_EVALUATION { Cause::EvaluationGraphs } else { Cause::EvaluationOutputs }
}

/// Infers the cause for a tensor that the program computes outside of modules.
///
/// Several kept results of one function include intermediate ones, which no variable refers to: a graph holds them.
fn of_own_code(study: &Study<'_>, kept: &Kept, own: &[&Kept]) -> Cause {
    let spine = study.sites.of_stack(kept.stack).spine;
    let is_beside = |other: &&&Kept| {
        let site = study.sites.of_stack(other.stack);
        !site.in_module && study.sites.are_in_one_function(study.trace, spine, site.spine)
    };
    let beside = || own.iter().filter(is_beside);
    let mut lines: Vec<_> = beside().map(|kept| study.sites.of_stack(kept.stack).spine).collect();
    lines.sort_unstable();
    let is_one_line_of_several = lines.windows(2).any(|pair| pair[0] == pair[1]);
    // Without known operations a line has a single stack; if some of its tensors are intermediate ones, it has more of
    // them than its neighbours.
    let counts = || beside().map(|kept| kept.count_per_step);
    let has_more = counts().max().unwrap_or(0) >= 2 * counts().min().unwrap_or(1).max(1);
    let is_unknown = study.sites.of_stack(kept.stack).operation == Operation::Unknown;
    match is_one_line_of_several || is_unknown && has_more {
        true => Cause::GraphsOfOwnCode,
        false => Cause::OwnTensors,
    }
}

/// Infers which tensors of forward remain: all that lead to a loss, or only some.
fn of_forward(study: &Study<'_>, grown: &[(&Kept, Group)]) -> Cause {
    let of_forward: Vec<&Kept> = of(grown, Group::Forward).collect();
    if of_forward.is_empty() {
        return Cause::Unknown;
    }
    let steps = study.repeats();
    if study.kind == RunKind::Training && backward_lengthens(study, steps) {
        return Cause::ChainedState;
    }
    let step = keeping_step(study, &of_forward);
    if held::are_in_graphs(study, &of_forward) || stays_as_graph(study, &of_forward, step) {
        return match study.kind {
            RunKind::Training if is_retained(study, step) => Cause::RetainedGraphs,
            RunKind::Training => Cause::Graphs,
            _ => Cause::GraphsOfInference,
        };
    }
    let bytes: u64 = of_forward.iter().map(|kept| kept.bytes_per_step).sum();
    let are_most = |is: fn(Site) -> bool| {
        let of_kind = of_forward.iter().filter(|kept| is(study.sites.of_stack(kept.stack)));
        of_kind.map(|kept| kept.bytes_per_step).sum::<u64>() * 2 > bytes
    };
    if are_most(|site| site.is_of_function) {
        return Cause::OfFunction;
    }
    if are_most(|site| site.is_hooked) {
        return Cause::Hooked;
    }
    let end = end_of_forward(study, step);
    let is_of_end = |kept: &&&Kept| {
        kept.latest.is_some_and(|latest| end(study.timeline.allocations.born_at(latest.0)) || ends_call(study, latest))
    };
    let of_end: u64 = of_forward.iter().filter(is_of_end).map(|kept| kept.bytes_per_step).sum();
    if of_end * LEAST_OF_OUTPUTS >= bytes { Cause::Outputs } else { Cause::Activations }
}

/// Returns the step nearest to the middle one that leaves some of the rows until the end.
///
/// Not every step may keep something.
fn keeping_step(study: &Study<'_>, rows: &[&Kept]) -> Step {
    let allocations = &study.timeline.allocations;
    let steps = study.repeats();
    let middle = steps.len() / 2;
    let stacks: HashSet<StackId> = rows.iter().map(|kept| kept.stack).collect();
    let end = steps.last().map_or(0, |step| step.end).saturating_sub(1);
    let keeps = |step: &Step| {
        let mut born = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
        born.any(|id| {
            allocations.dies_after(id, end) && stacks.contains(&allocations.allocation_stack(id, study.device))
        })
    };
    let mut by_distance: Vec<usize> = (0..steps.len()).collect();
    by_distance.sort_by_key(|&index| index.abs_diff(middle));
    by_distance.into_iter().map(|index| steps[index]).find(keeps).unwrap_or(steps[middle])
}

/// Returns true if at least 3/4 of the bytes that forward leaves outlive the step.
///
/// This means that backward passed their graph and freed nothing. If only some of them remain, backward freed the rest,
/// and the graph that remains is one that backward never passed.
fn is_retained(study: &Study<'_>, step: Step) -> bool {
    let allocations = &study.timeline.allocations;
    let (mut left, mut all) = (0_u64, 0_u64);
    for row in allocations.born_by(step.start)..allocations.born_by(step.end) {
        let id = AllocationId(row);
        let run = study.phases.run_of(allocations.born_at(row));
        let stack = allocations.allocation_stack(id, study.device);
        let is_forward = study.phases.of_birth_in(run, stack) == Phase::Forward;
        if is_forward && study.phases.leaves(run, allocations.died[id.index()]) {
            all = all.saturating_add(allocations.size_bytes(id));
            left =
                left.saturating_add(if allocations.dies_after(id, step.end) { allocations.size_bytes(id) } else { 0 });
        }
    }
    left.saturating_mul(4) >= all.saturating_mul(3)
}

/// Returns true if everything stays that backward would have freed, from the first to the last tensor that stays.
///
/// A hook, a cache or a list keeps single tensors of a pass, of which backward frees the others.
fn stays_as_graph(study: &Study<'_>, rows: &[&Kept], step: Step) -> bool {
    let pass = ForwardPass::of(study, step);
    let of_pass = rows.iter().filter(|kept| pass.by_stack.contains_key(&kept.stack)).count();
    let is_hooked = rows.iter().all(|kept| study.sites.of_stack(kept.stack).is_hooked);
    if is_hooked || of_pass * LEAST_OF_GRAPH < pass.by_stack.len() {
        return false;
    }
    let allocations = &study.timeline.allocations;
    let stacks: HashSet<StackId> = rows.iter().map(|kept| kept.stack).collect();
    let next = step.end.saturating_add(step.end - step.start);
    // Number and bytes of the tensors that stay, of all saved ones up to the last of them, and of those after it.
    let (mut kept, mut saved, mut after) = ((0, 0_u64), (0, 0_u64), (0, 0_u64));
    let add = |sum: &mut (usize, u64), (count, bytes): (usize, u64)| {
        *sum = (sum.0 + count, sum.1.saturating_add(bytes));
    };
    for row in allocations.born_by(step.start)..allocations.born_by(step.end) {
        let (id, size_bytes) = (AllocationId(row), allocations.size_bytes[row as usize]);
        let run = study.phases.run_of(allocations.born_at(row));
        let stack = allocations.allocation_stack(id, study.device);
        let is_forward = || matches!(study.phases.of_birth_in(run, stack), Phase::Forward | Phase::Evaluation);
        if stacks.contains(&stack) && allocations.dies_after(id, next.min(study.timeline.events() - 1)) {
            add(&mut kept, (1, size_bytes));
            add(&mut saved, (1, size_bytes));
            add(&mut saved, std::mem::take(&mut after));
        } else if kept.0 > 0 && is_forward() && study.phases.leaves(run, allocations.died[row as usize]) {
            add(&mut after, (1, size_bytes));
        }
    }
    // If gradients are on and backward never comes, two tensors are enough.
    let least = if study.kind == RunKind::Forward { 2 } else { LEAST_TENSORS_OF_GRAPH };
    kept.0 >= least && kept.0 * 5 >= saved.0 * 4 && kept.1.saturating_mul(10) >= saved.1.saturating_mul(9)
}

/// Returns true if the backward of most steps allocates more often than that of the step before.
fn backward_lengthens(study: &Study<'_>, steps: &[Step]) -> bool {
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
fn ends_call(study: &Study<'_>, id: AllocationId) -> bool {
    let allocations = &study.timeline.allocations;
    let site = |id| study.sites.of_stack(allocations.allocation_stack(id, study.device));
    let later = (id.0 + 1..allocations.len() as u32).map(|row| site(AllocationId(row)));
    let next = later.filter(|next| is_of_program(*next)).next();
    is_of_program(site(id)) && next.is_none_or(|next| !next.in_module || next.spine != site(id).spine)
}

/// Returns a test for moments at the end of their step's forward.
///
/// The test compares the distance from the start of the step with that in the given step.
fn end_of_forward(study: &Study<'_>, step: Step) -> impl Fn(u32) -> bool {
    let moments = allocs_of(study, step, Phase::Forward);
    let from = moments.get(moments.len() - moments.len().div_ceil(END_OF_FORWARD).min(moments.len()));
    let into_step = from.map_or(u32::MAX, |&moment| moment - step.start);
    let steps = study.repeats();
    move |moment| {
        let step = steps.iter().find(|step| step.contains(moment));
        step.is_some_and(|step| moment - step.start >= into_step)
    }
}
