//! Infers from stacks and lifetimes why memory grows.
//!
//! Idea: the kept tensors are judged as a set, because one reference can keep all of them alive. Tensors that only
//! backward needs are kept by a graph, and one tensor of each hooked module by its hook. What the program moved to the
//! device or computed itself is kept by one of its variables, lists or dictionaries.

use super::held;
use crate::analysis::study::by_design;
use crate::analysis::study::growth::Kept;
use crate::analysis::study::left_of_pass::{
    LeftOfPass, backward_lengthens, end_of_forward, ends_call, repeats_in_call,
};
use crate::analysis::study::phases::Phase;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::{Operation, Site, SpineId};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Lifetime;
use crate::base::ShortSort;
use crate::trace::Action;
use crate::trace::StackId;
use hashbrown::{HashMap, HashSet};
use std::cmp::Ordering;

/// Fewer stacks of an evaluation are single tensors.
const LEAST_STACKS_OF_EVALUATION: usize = 5;

/// At least 1/2 of the growing bytes must come from the end of forward, to be outputs of the model.
const LEAST_OF_OUTPUTS: u64 = 2;

/// At least 2/5 of the growing bytes of forward must come from modules with hooks.
const LEAST_OF_HOOKED: (u64, u64) = (2, 5);

/// At least 1/4 of them must come from functions of the program, which also keep what others have made.
const LEAST_OF_FUNCTION: (u64, u64) = (1, 4);

/// Modules must have made at least 1/4 of what a graph keeps.
const LEAST_OF_ALL: u64 = 4;

/// New models are at least 1/10 of what else grows.
const LEAST_OF_MODELS: u64 = 10;

/// Tensors of up to 16 bytes are numbers, such as a loss.
const NUMBER_BYTES: u64 = 16;

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
    Copies,
    /// Whole models with their gradients and optimizer state.
    Models,
    /// Adapters that a library adds to a model.
    Adapters,
    Gradients,
    EvaluationGraphs,
    EvaluationOutputs,
    OptimizerState,
    Numbers,
    /// A tensor that the program computes outside of modules.
    OwnTensors,
    Unknown,
}

/// Returns the causes with the groups that each makes grow; the cause with the largest single group comes first.
pub(super) fn causes<'a>(
    study: &Study<'_>,
    growing: &[&'a Kept],
    unused: &[Vec<Lifetime>],
) -> Vec<(Cause, Vec<&'a Kept>)> {
    let weights = by_design::lasting_sizes(study);
    let grown: Vec<(&Kept, Group)> = growing.iter().map(|&kept| (kept, of_group(study, kept, &weights))).collect();
    let own: Vec<&Kept> = of(&grown, Group::Own).collect();
    let has_gradients = of(&grown, Group::Known(Cause::Gradients)).next().is_some();
    let forward = match of_forward(study, &grown, unused) {
        graphs if is_graph(graphs) && has_gradients => Cause::GraphsOfGradients,
        forward => forward,
    };
    let is_own_in_graph = held::are_of_graphs(study, &own);
    let has_own_graph =
        is_own_in_graph || own.iter().any(|kept| of_own_code(study, kept, &own) == Cause::GraphsOfOwnCode);
    let bytes_of = |group| of(&grown, group).map(|kept| kept.bytes_per_step).sum::<u64>();
    let of_models = bytes_of(Group::Known(Cause::Models));
    // What a constructor makes in passing, such as a new head or a distribution, belongs to the state or the graph.
    let is_beside = |bytes: u64| of_models.saturating_mul(LEAST_OF_MODELS) < bytes;
    let has_models = of_models > 0 && !is_beside(bytes_of(Group::Known(Cause::OptimizerState)));
    let in_graph = is_graph(forward) && is_beside(bytes_of(Group::Forward));
    let mut causes: Vec<(Cause, Vec<&Kept>)> = Vec::new();
    for &(kept, group) in &grown {
        let cause = match group {
            Group::Known(Cause::Gradients | Cause::OptimizerState) if has_models => Cause::Models,
            Group::Known(Cause::Models) if in_graph => forward,
            Group::Known(Cause::Models) if !has_models => Cause::OptimizerState,
            Group::Known(Cause::Gradients) if is_graph(forward) => forward,
            Group::Known(cause) => cause,
            Group::Forward => forward,
            // A graph also holds its input batch and whatever is computed from its end.
            Group::Data | Group::Own if is_graph(forward) => forward,
            Group::Data if has_own_graph => Cause::GraphsOfOwnCode,
            Group::Data => Cause::Data,
            Group::Own if is_own_in_graph => Cause::GraphsOfOwnCode,
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
    Forward,
    /// Tensors that the program moved to the device or created there.
    Data,
    /// Tensors that the program computed.
    Own,
}

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
    if kept.end_bytes <= kept.end_count.saturating_mul(NUMBER_BYTES) {
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
    is_copy && is_beside_optimizer && by_design::has_sizes_of_weights(study, kept, weights)
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
    lines.short_sort_by(Ord::cmp);
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
fn of_forward(study: &Study<'_>, grown: &[(&Kept, Group)], unused: &[Vec<Lifetime>]) -> Cause {
    let of_forward: Vec<&Kept> = of(grown, Group::Forward).collect();
    if of_forward.is_empty() {
        return Cause::Unknown;
    }
    let steps = study.repeats();
    if study.kind == RunKind::Training && backward_lengthens(study, steps) {
        return Cause::ChainedState;
    }
    let left = LeftOfPass::of(study, &of_forward);
    // Outputs of checkpointed layers are all that their graphs save.
    let has_grad = of_forward.iter().any(|kept| !study.sites.of_stack(kept.stack).is_without_grad);
    // Whole calls that no backward passes, beside others whose graphs backward frees.
    let ends = |row: &&Lifetime| row.died >= study.timeline.events();
    let stays: HashSet<StackId> = unused.iter().flatten().filter(ends).map(|row| row.stack).collect();
    let bytes_of = |is: &dyn Fn(&Kept) -> bool| -> u64 {
        of_forward.iter().filter(|kept| is(kept)).map(|kept| kept.bytes_per_step).sum()
    };
    let are_calls = || bytes_of(&|kept| stays.contains(&kept.stack)).saturating_mul(5) >= bytes_of(&|_| true) * 4;
    // What the program computes around its modules is part of the graph, too, but its batches alone are none.
    let all: Vec<&Kept> = grown.iter().map(|row| row.0).collect();
    let all_bytes: u64 = all.iter().map(|kept| kept.bytes_per_step).sum();
    let is_graph_of_all = || {
        bytes_of(&|_| true).saturating_mul(LEAST_OF_ALL) >= all_bytes
            && LeftOfPass::of(study, &all).is_graph(study, &all)
    };
    let is_whole = || left.is_graph(study, &of_forward) || is_graph_of_all() || !stays.is_empty() && are_calls();
    let is_graph = || has_grad && is_whole() && !held::are_held(study, &of_forward);
    if held::are_in_graphs(study, &of_forward) || held::are_of_graphs(study, &of_forward) || is_graph() {
        return match study.kind {
            RunKind::Training if left.is_whole_pass() => Cause::RetainedGraphs,
            RunKind::Training => Cause::Graphs,
            _ => Cause::GraphsOfInference,
        };
    }
    let bytes = bytes_of(&|_| true);
    let are_many = |is: fn(Site) -> bool, least: (u64, u64)| {
        bytes_of(&|kept| is(study.sites.of_stack(kept.stack))).saturating_mul(least.1) >= bytes.saturating_mul(least.0)
    };
    if are_many(|site| site.is_of_function, LEAST_OF_FUNCTION) {
        return Cause::OfFunction;
    }
    if are_many(|site| site.is_hooked, LEAST_OF_HOOKED) {
        return Cause::Hooked;
    }
    let end = end_of_forward(study, left.step);
    let is_of_end = |kept: &&&Kept| {
        kept.latest.is_some_and(|latest| {
            let is_of_layer = || kept.count_per_step > 1 && repeats_in_call(study, latest);
            end(study.timeline.allocations.born_at(latest.0)) && !is_of_layer() || ends_call(study, latest)
        })
    };
    let of_end: u64 = of_forward.iter().filter(is_of_end).map(|kept| kept.bytes_per_step).sum();
    if of_end * LEAST_OF_OUTPUTS >= bytes { Cause::Outputs } else { Cause::Activations }
}
