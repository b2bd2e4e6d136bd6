//! What grows from step to step, and why, as far as the trace shows it.

use super::own_code::OwnCode;
use super::{Confidence, Evidence, Finding, FindingsConfig, events_of, top_stacks};
use crate::analysis::{BudgetSource, ForwardPass, Kept, Phase, PhaseBasis, Step, Study, UntilFull, until_full};
use crate::base::{Severity, format};
use crate::trace::Action;

/// The share of the stacks of a forward pass that have to stay, for it to be the graph: one in so many.
const LEAST_OF_GRAPH: usize = 2;

/// Fewer stacks that stay are single tensors, however small the model.
const LEAST_STACKS_OF_GRAPH: usize = 5;

/// The share of steps in which backward has to allocate more often than in the step before.
const LEAST_LONGER: f64 = 0.8;

/// By how much the last backward has to be longer than the second.
const LEAST_LENGTHENED: f64 = 1.3;

/// The share of growing bytes that has to come from the end of forward, to be what the model returns: one in so many.
const LEAST_OF_OUTPUTS: u64 = 2;

/// The part of forward's allocations that counts as its end: one in so many.
const END_OF_FORWARD: usize = 4;

/// Growth by this share of the peak in a step is an error: one in so many.
const SERIOUS: u64 = 1000;

/// Fewer steps leave it open whether something fills up or leaks.
const STEPS_TO_BE_SURE: usize = 4;

/// Why something grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Graphs,
    ChainedState,
    Replaced,
    Outputs,
    Activations,
    Batches,
    Gradients,
    EvaluationGraphs,
    EvaluationOutputs,
    OptimizerState,
    Unknown,
}

/// A finding for each cause of growth.
pub(super) fn findings(study: &Study<'_>, config: &FindingsConfig) -> Vec<Finding> {
    let growing: Vec<&Kept> = study.growth.growing().collect();
    let Some(steps) = study.steps.as_ref().filter(|_| !growing.is_empty()) else { return Vec::new() };
    let of_forward = cause_of_forward(study, &steps.steps, &growing);
    let is_graph = matches!(of_forward, Cause::Graphs | Cause::ChainedState);
    let evaluated = growing.iter().filter(|kept| kept.phase == Phase::Evaluation).count();
    let mut causes: Vec<(Cause, Vec<&Kept>)> = Vec::new();
    for kept in growing {
        let cause = match kept.phase {
            _ if !study.phases.are_told() => Cause::Unknown,
            _ if kept.is_replaced => Cause::Replaced,
            Phase::Forward => of_forward,
            // A graph holds the batch that it began with.
            Phase::Data if is_graph => of_forward,
            Phase::Data => Cause::Batches,
            Phase::Backward | Phase::Collective => Cause::Gradients,
            Phase::Recompute => Cause::Activations,
            Phase::Evaluation if evaluated >= LEAST_STACKS_OF_GRAPH => Cause::EvaluationGraphs,
            Phase::Evaluation => Cause::EvaluationOutputs,
            Phase::Optimizer => Cause::OptimizerState,
            Phase::Setup | Phase::Unknown => Cause::Unknown,
        };
        match causes.iter_mut().find(|(other, _)| *other == cause) {
            Some((_, rows)) => rows.push(kept),
            None => causes.push((cause, vec![kept])),
        }
    }
    causes.iter().map(|(cause, rows)| finding(study, config, *cause, rows)).collect()
}

/// Which of the tensors of forward stay: all that lead to a loss, or some.
fn cause_of_forward(study: &Study<'_>, steps: &[Step], growing: &[&Kept]) -> Cause {
    let of_forward: Vec<&&Kept> =
        growing.iter().filter(|kept| kept.phase == Phase::Forward && !kept.is_replaced).collect();
    if of_forward.is_empty() {
        return Cause::Unknown;
    }
    if backward_lengthens(study, steps) {
        return Cause::ChainedState;
    }
    let step = steps[steps.len() / 2];
    let pass = ForwardPass::of(study, step);
    let of_pass = of_forward.iter().filter(|kept| pass.by_stack.contains_key(&kept.stack)).count();
    if of_pass >= LEAST_STACKS_OF_GRAPH && of_pass * LEAST_OF_GRAPH >= pass.by_stack.len() {
        return Cause::Graphs;
    }
    let bytes: u64 = of_forward.iter().map(|kept| kept.bytes_per_step).sum();
    let end = end_of_forward(study, step);
    let is_of_end =
        |kept: &&&&Kept| kept.latest.is_some_and(|latest| end(study.timeline.allocations.born_at(latest.0)));
    let of_end: u64 = of_forward.iter().filter(is_of_end).map(|kept| kept.bytes_per_step).sum();
    if of_end * LEAST_OF_OUTPUTS >= bytes { Cause::Outputs } else { Cause::Activations }
}

/// Whether backward of each step allocates more often than that of the step before.
fn backward_lengthens(study: &Study<'_>, steps: &[Step]) -> bool {
    let lengths: Vec<usize> = steps.iter().map(|&step| allocs_of(study, step, Phase::Backward).len()).collect();
    let pairs = lengths.len().saturating_sub(1);
    let longer = lengths.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let second = lengths.get(1).copied().unwrap_or(0).max(1);
    let last = lengths.last().copied().unwrap_or(0);
    pairs > 1 && longer as f64 >= LEAST_LONGER * pairs as f64 && last as f64 >= LEAST_LENGTHENED * second as f64
}

/// The moments of a step's allocations in one phase.
fn allocs_of(study: &Study<'_>, step: Step, phase: Phase) -> Vec<u32> {
    let events = &study.device.events;
    let is_alloc = |&event: &u32| events.actions().at(event as usize) == Action::Alloc;
    let is_of_phase = |&event: &u32| study.phases.of_birth(event + 1, events.stacks().at(event as usize)) == phase;
    (step.start..step.end).filter(is_alloc).filter(is_of_phase).map(|event| event + 1).collect()
}

/// Tells moments at the end of their step's forward, going by how far into its step that end comes.
fn end_of_forward(study: &Study<'_>, step: Step) -> impl Fn(u32) -> bool {
    let moments = allocs_of(study, step, Phase::Forward);
    let from = moments.get(moments.len() - moments.len().div_ceil(END_OF_FORWARD).min(moments.len()));
    let into_step = from.map_or(u32::MAX, |&moment| moment - step.start);
    let steps = study.steps.clone();
    move |moment| {
        let steps = steps.as_ref();
        let step = steps.and_then(|steps| Some(steps.steps[steps.of_moment(moment)?]));
        step.is_some_and(|step| moment - step.start >= into_step)
    }
}

fn finding(study: &Study<'_>, config: &FindingsConfig, cause: Cause, rows: &[&Kept]) -> Finding {
    let bytes_per_step: u64 = rows.iter().map(|kept| kept.bytes_per_step).sum();
    let (code, what, advice) = words(cause);
    let largest = rows.iter().max_by_key(|kept| kept.bytes_per_step).expect("a cause has rows");
    let own = OwnCode::of(study, rows.iter().map(|kept| (kept.bytes_per_step, kept.stack)));
    let from = match &own {
        Some(own) if own.is_all => format!("from {}", own.place),
        Some(own) => format!("most of it from {}", own.place),
        None if rows.len() == 1 => format!("from {}", study.title(largest.stack)),
        None => format!("most of it from {}", study.title(largest.stack)),
    };
    let look = own.map_or_else(String::new, |own| format!(" {}", look(cause, &own.place)));
    let full = until_full(study, config.capacity_bytes);
    let until = full.map_or_else(String::new, |full| format!(" {}", sentence(&full)));
    let is_serious = bytes_per_step.saturating_mul(SERIOUS) >= study.timeline.live_peak().1;
    Finding {
        code,
        severity: if is_serious { Severity::Error } else { Severity::Warning },
        confidence: confidence(study, cause),
        device: study.device.index,
        bytes: bytes_per_step,
        title: format!("{what}: {} a step, {from}", format::bytes(bytes_per_step)),
        evidence: Evidence {
            shows: shows(study, rows, largest),
            events: events_of(study, rows),
            stacks: top_stacks(rows.iter().map(|kept| (kept.bytes_per_step, kept.stack))),
        },
        advice: format!("{advice}{look}{until}"),
    }
}

/// Where in the user's code to look, in a sentence.
fn look(cause: Cause, place: &str) -> String {
    match cause {
        Cause::Graphs | Cause::ChainedState | Cause::Outputs => {
            format!("The model is called from `{place}`: look at what is kept of the result.")
        }
        Cause::EvaluationGraphs | Cause::EvaluationOutputs => {
            format!("The evaluation calls the model from `{place}`: look at what is kept of the result.")
        }
        Cause::Activations => format!("The pass that they are from is called from `{place}`."),
        Cause::Replaced => format!("See `{place}`."),
        Cause::Batches | Cause::Gradients | Cause::OptimizerState | Cause::Unknown => {
            format!("They come from `{place}`: look at what refers to them later.")
        }
    }
}

/// Code, title and advice of a cause.
fn words(cause: Cause) -> (&'static str, &'static str, &'static str) {
    match cause {
        Cause::Graphs => (
            "graphs-kept",
            "Every step's autograd graph stays",
            "Something that leads to the graph is kept after each step: a loss, an output or a `grad_fn`, as by \
             `losses.append(loss)` or `total += loss`. Keep `loss.item()` or `loss.detach()` instead, and leave \
             `retain_graph=True` out.",
        ),
        Cause::ChainedState => (
            "state-chained",
            "Each step's graph leads into those of all steps before it",
            "A tensor is carried from step to step with its graph, such as the hidden state of a recurrent model, and \
             backward goes through all steps so far. Call `detach()` on it between steps, and leave \
             `retain_graph=True` out.",
        ),
        Cause::Replaced => (
            "tensor-grows",
            "A tensor is allocated anew in each step, larger than before",
            "This is what `all = torch.cat([all, new])` does: the old and the new tensor are there at once while it is \
             copied. Move the parts to the host, keep what is needed of them, or write into a tensor that is allocated \
             once.",
        ),
        Cause::Outputs => (
            "outputs-kept",
            "What forward ends with stays after every step",
            "Outputs of the model are kept, for a metric perhaps. Keep what is needed of them, on the host: \
             `output.argmax(-1).cpu()`, or `output.detach().cpu()`.",
        ),
        Cause::Activations => (
            "activations-kept",
            "Tensors of layers stay after every step",
            "Something keeps what layers compute: a forward hook that appends to a list, or an attribute. Empty it after \
             each step, keep `detach()`ed copies, and remove hooks that are not needed any more.",
        ),
        Cause::Batches => (
            "batches-kept",
            "Every batch stays on the device",
            "Batches are kept after their step, in a list perhaps. Keep them on the host, and let go of the copy on the \
             device.",
        ),
        Cause::Gradients => (
            "gradients-kept",
            "Every step's gradients stay",
            "Gradients are kept after their step, in a list perhaps. Keep a norm or a copy on the host: \
             `p.grad.norm().item()`.",
        ),
        Cause::EvaluationGraphs => (
            "evaluation-graphs-kept",
            "The graph of every evaluation stays",
            "The evaluation records a graph that nothing calls backward on, and something leads to it: a list of losses \
             perhaps. Evaluate under `torch.no_grad()`, and keep `loss.item()`.",
        ),
        Cause::EvaluationOutputs => (
            "evaluation-outputs-kept",
            "Tensors of every evaluation stay",
            "What the evaluation computes is kept on the device. Keep what is needed of it on the host.",
        ),
        Cause::OptimizerState => (
            "optimizer-state-grows",
            "What the optimizer allocates stays after every step",
            "An optimizer keeps as much as after its first step. See whether parameters are added to it, or whether it is \
             made anew while the old one is kept.",
        ),
        Cause::Unknown => (
            "memory-grows",
            "Memory grows with every step",
            "The trace does not show why. See which code allocates what stays, and what refers to it when a step is \
             over.",
        ),
    }
}

fn confidence(study: &Study<'_>, cause: Cause) -> Confidence {
    match cause {
        Cause::Unknown => Confidence::Medium,
        _ if study.phases.basis() != PhaseBasis::Functions => Confidence::Medium,
        _ if study.growth.steps < STEPS_TO_BE_SURE => Confidence::Medium,
        _ => Confidence::High,
    }
}

fn shows(study: &Study<'_>, rows: &[&Kept], largest: &Kept) -> String {
    let end_bytes = rows.iter().map(|kept| kept.end_bytes).sum();
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let mut text = format!(
        "At the end of step {} of {} they hold {} in {}; they came from {} and grew in each part of the trace.",
        study.growth.steps,
        study.growth.steps,
        format::bytes(end_bytes),
        format::counted(count, "allocation"),
        format::counted(rows.len() as u64, "stack"),
    );
    if rows.len() > 1 {
        let (bytes, title) = (format::bytes(largest.bytes_per_step), study.title(largest.stack));
        text += &format!(" The most from one of them, {bytes} a step, is from {title}.");
    }
    text
}

/// When the card is full, in a sentence.
fn sentence(full: &UntilFull) -> String {
    let room = format::bytes(full.budget.bytes);
    let whose = match full.budget.source {
        BudgetSource::Given => format!("the card's {room}"),
        BudgetSource::GivenLessOutside => format!("the {room} of the card that others left to PyTorch"),
        BudgetSource::OutOfMemory => format!("the {room} that PyTorch could have when memory was out"),
    };
    if full.steps == 0 {
        return format!("All growth together fills {whose} within one more step.");
    }
    let time = full.time_us.filter(|&us| us > 0).map_or_else(String::new, |us| format!(", {}", format::duration(us)));
    format!(
        "At this rate all growth together fills {whose} in {} at the latest: {}{time}.",
        format::counted(full.steps, "more step"),
        format::counted(full.events, "event"),
    )
}
