//! Determines the kind of run that a trace shows, because findings depend on it.
//!
//! Invariant: without backward there are no steps.

use crate::analysis::study::phases::{Phase, PhaseBasis, Phases};
use crate::analysis::study::sites::{Operation, Rounds, Sites};
use crate::analysis::study::steps::Steps;
use crate::analysis::track::allocations::{Allocations, Lifetime, most_together};
use crate::trace::{Action, Device, StackId};
use hashbrown::{HashMap, HashSet};

/// Activity of the program while it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// Gradients are computed.
    Training,
    /// The model runs and keeps tensors for backward, but backward never comes.
    Forward,
    /// The model runs without gradients.
    Inference,
    /// The model generates one token after the other.
    Generation,
    /// The model runs in functions that evaluate it.
    Evaluation,
    /// The model is only built.
    SetUp,
    /// The trace contains no allocations.
    NoTrace,
    /// The trace does not show the kind.
    #[default]
    Unknown,
}

/// At least 1/4 of forward's stacks must be alive at the maximum of its bytes, to infer that gradients are on.
const LEAST_KEPT: usize = 4;

/// At least 1/4 of the bytes that a pass allocates must be alive at that moment, to infer that gradients are on.
///
/// Without gradients only the tensors of one layer out of all layers are alive.
const LEAST_KEPT_BYTES: u64 = 4;

/// Fewer changes of size of concatenated tensors do not indicate a cache.
const LEAST_JOINS: usize = 3;

/// Fewer stacks are not enough to infer that gradients are on.
const LEAST_STACKS: usize = 4;

/// Fewer stacks at once may be those of the last layer and its result.
const LEAST_ALIVE: usize = 3;

crate::names!(
    RunKind {
        Training => "training" as "training",
        Forward => "forward" as "forward passes with gradients enabled but no backward pass",
        Inference => "inference" as "inference",
        Generation => "generation" as "text generation",
        Evaluation => "evaluation" as "evaluation",
        SetUp => "set-up" as "model setup",
        NoTrace => "no-trace" as "no recorded events",
        Unknown => "unknown" as "a run of unknown kind",
    }
    /// Returns the kind in a few words, for use in a sentence.
    fn words
);

impl RunKind {
    /// Determines the kind of a device by its phases; `rounds` are those of a device without training.
    pub(in crate::analysis) fn of(
        device: &Device,
        allocations: &Allocations,
        phases: &Phases,
        sites: &Sites,
        steps: Option<&Steps>,
        rounds: Option<&Rounds>,
    ) -> Self {
        let events = &device.events;
        let allocs = || (0..events.len()).filter(|&event| events.actions().at(event) == Action::Alloc);
        if allocs().next().is_none() {
            return Self::NoTrace;
        }
        if phases.basis() == PhaseBasis::Curve {
            return if steps.is_some() { Self::Training } else { Self::Unknown };
        }
        if phases.has_backward() {
            return Self::Training;
        }
        let of_stack = |event: usize| sites.of_stack(events.stacks().at(event));
        let is_generated = || allocs().any(|event| of_stack(event).is_generated);
        if rounds.is_some_and(|rounds| rounds.calls > 1) && (is_generated() || joins_grow(device, sites)) {
            return Self::Generation;
        }
        let has = |phase: Phase| phases.runs().iter().any(|run| run.1 == phase);
        if !has(Phase::Forward) && !has(Phase::Evaluation) {
            return if has(Phase::Setup) { Self::SetUp } else { Self::Unknown };
        }
        if keeps_graph(device, allocations, phases, sites, rounds) {
            return Self::Forward;
        }
        let is_told = |event: usize| {
            let stack = events.stacks().at(event);
            phases.of_stack(stack) == Phase::Evaluation && !sites.of_stack(stack).is_without_grad
        };
        let evaluated = allocs().filter(|&event| is_told(event)).count();
        if evaluated * 2 > allocs().count() { Self::Evaluation } else { Self::Inference }
    }
}

/// Returns true if modules concatenate tensors that get longer each time: keys and values of all tokens so far.
///
/// At least 3/4 of the changes of size must be increases.
fn joins_grow(device: &Device, sites: &Sites) -> bool {
    let events = &device.events;
    let mut sizes: HashMap<StackId, (u64, usize, usize)> = HashMap::new();
    for event in (0..events.len()).filter(|&event| events.actions().at(event) == Action::Alloc) {
        let stack = events.stacks().at(event);
        let site = sites.of_stack(stack);
        if site.is_kv_cache || site.in_module && site.operation == Operation::Join {
            let bytes = events.sizes_bytes().at(event);
            let (last, longer, all) = sizes.entry(stack).or_insert((bytes, 0, 0));
            // Each layer has a cache of its own, and these have the same length.
            if bytes != *last {
                *longer += usize::from(bytes > *last);
                *all += 1;
            }
            *last = bytes;
        }
    }
    let (longer, all) = sizes.values().fold((0, 0), |sum, &(_, longer, all)| (sum.0 + longer, sum.1 + all));
    all >= LEAST_JOINS && longer * 4 >= all * 3
}

/// Returns true if many of forward's stacks and much of its bytes are alive at once.
///
/// If calls are known, one is examined at its end, when without gradients only its result is alive. The results of other
/// calls may be kept.
fn keeps_graph(
    device: &Device,
    allocations: &Allocations,
    phases: &Phases,
    sites: &Sites,
    rounds: Option<&Rounds>,
) -> bool {
    let is_of_pass = |phase: Phase| matches!(phase, Phase::Forward | Phase::Evaluation);
    let has_grad = |stack: StackId| !sites.of_stack(stack).is_without_grad;
    let middle = rounds.and_then(|rounds| rounds.rounds.get(rounds.rounds.len() / 2));
    let rows: Vec<Lifetime> = allocations
        .ids()
        .skip(allocations.initial_count())
        .map(|id| Lifetime::of(allocations, device, id))
        .filter(|row| middle.is_none_or(|call| call.contains(row.born)))
        .filter(|row| is_of_pass(phases.of_birth(row.born, row.stack)) && has_grad(row.stack))
        .collect();
    let all_bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    let (moment, bytes) = match (middle, rows.iter().rev().find(|row| sites.of_stack(row.stack).in_module)) {
        (Some(_), Some(last)) => {
            (last.born, rows.iter().filter(|row| row.is_alive_at(last.born)).map(|row| row.bytes).sum())
        }
        _ => most_together(&rows, u32::MAX),
    };
    let stacks: HashSet<StackId> = rows.iter().map(|row| row.stack).collect();
    let alive: HashSet<StackId> = rows.iter().filter(|row| row.is_alive_at(moment)).map(|row| row.stack).collect();
    let has_bytes = bytes.saturating_mul(LEAST_KEPT_BYTES) >= all_bytes;
    let has_stacks = stacks.len() >= LEAST_STACKS && alive.len() >= LEAST_ALIVE;
    has_stacks && alive.len() * LEAST_KEPT >= stacks.len() && has_bytes
}

#[cfg(test)]
mod tests {
    use crate::analysis::naive;
    use crate::analysis::study::run_kind::RunKind;
    use crate::analysis::study::studied::Study;
    use crate::trace::text;

    const MODULE: &str = "_call_impl@v/site-packages/torch/nn/modules/module.py";
    const BACKWARD: &str = "@backward@v/site-packages/torch/_tensor.py<main";

    #[track_caller]
    fn check(source: &str, expected: RunKind) {
        let (trace, timeline) = naive::timed(text::parse(source).unwrap());
        assert_eq!(Study::new(&trace, &trace.devices[0], &timeline).kind, expected);
    }

    /// Writes a call of a model with 16 layers.
    ///
    /// Each layer frees the output of the one before unless `keeps` is true.
    fn call(name: usize, keeps: bool) -> String {
        let layer = |layer: usize| {
            let alloc = format!("alloc a{layer}.{name} 1MiB @layer{layer}<{MODULE}<main\n");
            match keeps || layer == 0 {
                true => alloc,
                false => format!("{alloc}free a{}.{name}\n", layer - 1),
            }
        };
        (0..16).map(layer).collect()
    }

    #[test]
    fn gradients_tell_the_kind_of_a_run() {
        // Nothing to judge by is said.
        check("segment S 2MiB\nblock b 1MiB", RunKind::NoTrace);
        check("alloc a 1MiB", RunKind::Unknown);
        // Gradients tell a training.
        check(&(call(0, true) + &format!("alloc g 1MiB {BACKWARD}")), RunKind::Training);
        // A pass that keeps its layers has gradients on.
        check(&call(0, true), RunKind::Forward);
        check(&call(0, false), RunKind::Inference);
        // Functions that evaluate are told by their names.
        check(&call(0, false).replace("<main", "<evaluate<main"), RunKind::Evaluation);
        // A model that is built is a set-up.
        check("alloc w 1MiB @_apply@v/site-packages/torch/nn/modules/module.py<main", RunKind::SetUp);
    }

    #[test]
    fn results_that_are_kept_have_no_graph() {
        let call = |name: usize| {
            let input = format!("alloc x.{name} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<main:9\n");
            let layers = (0..4).map(|layer| {
                let freed =
                    if layer == 0 { format!("free x.{name}\n") } else { format!("free a{}.{name}\n", layer - 1) };
                format!("alloc a{layer}.{name} 1MiB @layer{layer}<{MODULE}<main:10\n{freed}")
            });
            input + &layers.collect::<String>()
        };
        check(&(0..20).map(call).collect::<String>(), RunKind::Inference);
        let kept = |name: usize| {
            call(name)
                .lines()
                .filter(|line| !line.contains("free a"))
                .fold(String::new(), |text, line| text + line + "\n")
        };
        check(&(0..20).map(kept).collect::<String>(), RunKind::Forward);
    }

    #[test]
    fn layers_are_no_steps() {
        let (trace, timeline) = naive::timed(text::parse(&call(0, true)).unwrap());
        let study = Study::new(&trace, &trace.devices[0], &timeline);
        assert!(study.steps.is_none() && study.growth.kept.is_empty());
    }

    #[test]
    fn joined_tensors_that_grow_are_a_cache() {
        let cat = "at::_ops::cat::call()@a.cpp";
        let token = |index: usize| {
            let free = index.checked_sub(1).map_or_else(String::new, |last| format!("free k{last}\n"));
            format!(
                "alloc x{index} 8 @pick<main\nfree x{index}\nalloc k{index} {}KiB @{cat}<update<{MODULE}<main\n{free}",
                8 + index
            )
        };
        check(&(0..8).map(token).collect::<String>(), RunKind::Generation);
    }
}
