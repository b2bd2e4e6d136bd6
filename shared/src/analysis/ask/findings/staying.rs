//! Finds memory that stays alive longer than necessary but does not grow.

use super::advice::Advice;
use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank, SourceLine, events_of};
use super::own_code::{Own, largest, line_of, line_of_backward, line_of_part, phase_of, row_of};
use crate::analysis::study::by_design;
use crate::analysis::study::growth::{Course, Kept};
use crate::analysis::study::left_of_pass::{ForwardPass, LeftOfPass};
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime};
use crate::analysis::track::category::WORKSPACES_BYTES;
use crate::base::{ShortSort, format};
use crate::trace::StackId;
use hashbrown::HashSet;

/// Less than 1/100 of the peak is not reported.
const LEAST_SHARE: u64 = 100;

/// What forward keeps for small gradients is reported from 1/10 of the peak on.
const LEAST_OF_UNTRAINED: u64 = 10;

/// At least 1/2 of the stacks of a forward pass must be alive at the end of a step, to be its graph.
const LEAST_OF_GRAPH: usize = 2;

/// With fewer stacks, single tensors would look like a graph.
const LEAST_STACKS: usize = 3;

/// With fewer steps, gradients that stay cannot be told from those of a single step.
const LEAST_STEPS: usize = 3;

/// Fewer gradients that each step clears may be something else: a layer has a weight and a bias.
const LEAST_CLEARED: u64 = 2;

/// Reports gradients, graphs and recomputed activations that outlive their step, and several passes within one step.
///
/// `unused` has what no backward uses of each call, which has a finding of its own.
pub(super) fn findings(study: &Study<'_>, unused: &[Vec<Lifetime>]) -> Vec<Finding> {
    if !study.phases.are_told() {
        return Vec::new();
    }
    let Some(steps) = study.steps.as_ref() else { return Vec::new() };
    let middle = steps.steps[steps.steps.len() / 2];
    let pass = ForwardPass::of(study, middle);
    let passes = |pass: &ForwardPass| {
        let is_much = !is_little(study, pass.bytes);
        is_much.then(|| super::passes::finding(study, pass, unused)).flatten()
    };
    // An evaluation may come in few steps only.
    let of_evaluation = || {
        let at_peak = ForwardPass::of(study, step_of_peak(study, &steps.steps)?);
        passes(&at_peak).filter(|found| found.code == FindingCode::EvaluationWithGraph)
    };
    let passes = passes(&pass).or_else(of_evaluation);
    let found = [gradients(study), graph(study, &pass, unused), recomputed(study), passes];
    found.into_iter().flatten().collect()
}

/// Returns the step that allocated most of what forward passes have live at the peak.
fn step_of_peak(study: &Study<'_>, steps: &[Step]) -> Option<Step> {
    let mut bytes = vec![0_u64; steps.len()];
    for (id, size_bytes) in study.timeline.allocations.alive_at(study.timeline.live_peak().0) {
        let born = study.timeline.allocations.born_at(id.0);
        let of_step = bytes.get_mut(steps.partition_point(|step| step.end < born));
        if let Some(of_step) = of_step.filter(|_| phase_of(study, id) == Phase::Forward) {
            *of_step += size_bytes;
        }
    }
    (0..steps.len()).max_by_key(|&index| bytes[index]).map(|index| steps[index])
}

/// Reports gradients that the first step allocates and no step frees.
fn gradients(study: &Study<'_>) -> Option<Finding> {
    if study.growth.steps < LEAST_STEPS {
        return None;
    }
    let mut rows = rows(study, Course::Settles, Phase::Backward);
    // A gradient may be as large as a workspace, but there is only one workspace of each size.
    for size_bytes in WORKSPACES_BYTES {
        let of_size = |kept: &&Kept| kept.end_count == 1 && kept.end_bytes == size_bytes;
        let first = rows.iter().enumerate().filter(|(_, kept)| of_size(kept)).min_by_key(|(_, kept)| kept.latest);
        if let Some((index, _)) = first {
            rows.remove(index);
        }
    }
    let code = FindingCode::GradientsStay;
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    if is_little(study, bytes) {
        return among_others(study, &rows);
    }
    let is_of_rows = |id: AllocationId| {
        let (size_bytes, stack) = row_of(study, id);
        rows.iter().any(|kept| match kept.size_bytes {
            Some(size) => !stack.has_frames() && size == size_bytes,
            None => kept.stack == stack,
        })
    };
    let Some((line, forward_bytes)) = untrained(study, is_of_rows) else {
        return finding(
            study,
            &rows,
            None,
            (code, "Gradients stay between steps"),
            "The backward pass allocates them only in the first step, and adds to them in later steps.",
            "Call ``optimizer.zero_grad(set_to_none=True)`` in every step, which frees the gradients until the next \
             backward pass.\n\n\
             `set_to_none=False` and tch's `zero_grad` set them to zero but keep the memory. Without any `zero_grad()`, \
             the gradients of all steps add up, which also makes the updates wrong.",
        );
    };
    finding(study, &rows, Some(line.clone()), (code, NOT_CLEARED), &only_once(&line, forward_bytes), OF_UNTRAINED)
}

const NOT_CLEARED: &str = "Gradients that no optimizer clears";

const OF_UNTRAINED: &str = "Call ``model.requires_grad_(False)`` on a model that is not trained, such as a teacher or a frozen encoder.\n\
         Or run it under ``with torch.no_grad():``, if no gradient has to go through it.\n\
         If its weights are to be trained, pass them to an optimizer, and call its `zero_grad()` in every step.\n\n\
         No `zero_grad()` clears these gradients. If their weights belong to no optimizer, the backward pass computes \
         them in vain, and the graph keeps activations for them.";

fn only_once(line: &SourceLine, forward_bytes: u64) -> String {
    format!(
        "The backward pass allocates them only in the first step, although it allocates those of other weights anew. \
         Until it does, the forward pass at `{}` keeps {} of activations for them.",
        line.place(),
        format::bytes(forward_bytes)
    )
}

/// Reports gradients of the first step that stay: small ones of `rows`, and those of the same sizes as others that each
/// step clears, such as those of a copy.
fn among_others(study: &Study<'_>, rows: &[&Kept]) -> Option<Finding> {
    let (first, last) = (study.repeats().first()?, study.repeats().last()?);
    let allocations = &study.timeline.allocations;
    let cleared = by_design::trained_sizes(study);
    let stays = |id: &AllocationId| {
        let (size_bytes, stack) = row_of(study, *id);
        !stack.has_frames()
            && (cleared.contains_key(&size_bytes) || rows.iter().any(|kept| kept.size_bytes == Some(size_bytes)))
            && allocations.dies_after(*id, last.end - 1)
            && phase_of(study, *id) == Phase::Backward
    };
    let of_first = (allocations.born_by(first.start)..allocations.born_by(first.end)).map(AllocationId);
    let stay: HashSet<AllocationId> = of_first.filter(stays).collect();
    let told = || stay.iter().map(|&id| row_of(study, id));
    let bytes: u64 = told().map(|row| row.0).sum();
    if (stay.len() as u64) < LEAST_CLEARED {
        return None;
    }
    let (line, forward_bytes) = untrained(study, |id| stay.contains(&id))?;
    let is_much = forward_bytes.saturating_mul(LEAST_OF_UNTRAINED) >= study.timeline.live_peak().1;
    if is_little(study, bytes) && !is_much {
        return None;
    }
    let (bytes, what) = match is_little(study, bytes) {
        true => {
            (forward_bytes, format!("{} is kept for gradients that no optimizer clears", format::bytes(forward_bytes)))
        }
        false => (bytes, format!("{NOT_CLEARED}: {}", format::bytes(bytes))),
    };
    let found = Finding::warning(study, FindingCode::GradientsStay, Confidence::Medium, Rank::Cause, bytes);
    let shown = found.placed(&what, ", in ", Some(line.clone()));
    let moment = study.timeline.live_peak().0.checked_sub(1);
    Some(shown.shown(only_once(&line, forward_bytes), moment, told()).advised(OF_UNTRAINED))
}

/// Returns the line whose forward pass leads to gradients that stay although others are cleared, with its bytes.
///
/// Backward frees the activations of a layer when it computes the layer's gradients.
fn untrained(study: &Study<'_>, is_of_rows: impl Fn(AllocationId) -> bool) -> Option<(SourceLine, u64)> {
    let allocations = &study.timeline.allocations;
    let (first, last) = (study.repeats().first()?, study.repeats().last()?);
    if by_design::trained_sizes(study).values().sum::<u64>() < LEAST_CLEARED {
        return None;
    }
    let of_first = || (allocations.born_by(first.start)..allocations.born_by(first.end)).map(AllocationId);
    let is_gradient = |id: &AllocationId| allocations.dies_after(*id, last.end - 1) && is_of_rows(*id);
    let born: Vec<u32> = of_first().filter(is_gradient).map(|id| allocations.born_at(id.0)).collect();
    let range = *born.first()?..=*born.last()?;
    let of_gradients = of_first().filter(|id| range.contains(&allocations.died[id.index()]));
    let of_forward = of_gradients.filter(|&id| phase_of(study, id) == Phase::Forward).map(|id| row_of(study, id));
    largest(of_forward.filter_map(|(bytes, stack)| Some((line_of(study, stack, Own::Call)?, bytes))))
}

/// Reports the graph of a step that is freed only after the next step has made its own.
fn graph(study: &Study<'_>, pass: &ForwardPass, unused: &[Vec<Lifetime>]) -> Option<Finding> {
    let rows = rows(study, Course::Renewed, Phase::Forward);
    let end = study.repeats().get(study.repeats().len() / 2).map_or(0, |step| step.end);
    let unused_bytes: u64 = unused.iter().flatten().filter(|row| row.is_alive_at(end)).map(|row| row.bytes).sum();
    if unused_bytes * 2 > rows.iter().map(|kept| kept.end_bytes).sum() {
        return None;
    }
    let of_pass = rows.iter().filter(|kept| pass.by_stack.contains_key(&kept.stack)).count();
    let alive_of = |phase: Phase| -> u64 {
        let alive = study.timeline.allocations.alive_at(end);
        alive.filter(|&(id, _)| phase_of(study, id) == phase).map(|row| row.1).sum()
    };
    // There is no more than one gradient for each weight.
    let weights = alive_of(Phase::Setup);
    let of_backward = alive_of(Phase::Backward);
    let of_forward: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    let is_differentiable = weights > 0 && of_backward > weights.saturating_mul(2) && of_backward * 2 > of_forward;
    let middle = *study.repeats().get(study.repeats().len() / 2)?;
    let left = LeftOfPass::at(study, &rows, middle, middle.end);
    // Of two networks, one may stay.
    let is_graph = of_pass * LEAST_OF_GRAPH >= pass.by_stack.len() || left.is_graph(study, &rows);
    if of_pass < LEAST_STACKS || !is_graph || !meet_the_next(study, &rows) {
        return None;
    }
    let of_function = rows.iter().filter(|kept| study.sites.of_stack(kept.stack).is_of_function);
    let is_of_function = of_function.map(|kept| kept.end_bytes).sum::<u64>() * 2 > of_forward;
    // A backward that freed the rest has passed by it.
    let is_part = !left.is_whole_pass() && super::retained::starts_of_backward(study, middle).len() == 1;
    finding(
        study,
        &rows,
        None,
        (FindingCode::GraphOutlivesStep, if is_of_function { KEPT_BY_FUNCTION } else { KEPT_BY_STEP }),
        "Most of what the forward pass saves for backward is still alive at the end of each step, and is freed in the \
         next step.",
        match (is_differentiable, is_part) {
            _ if is_of_function => OF_FUNCTION,
            (true, _) => OF_CREATE_GRAPH,
            (false, true) => OF_PART,
            (false, false) => OF_RETAIN_GRAPH,
        },
    )
}

const KEPT_BY_STEP: &str = "A step's graph stays while the next step builds its own";
const KEPT_BY_FUNCTION: &str = "An autograd function keeps tensors beyond its backward pass";

const OF_FUNCTION: &str = "Save tensors by ``ctx.save_for_backward(x, y)``: backward frees them, but not the attributes of `ctx`. Compute \
                           anew in `backward` what is cheap.\n\
                           Or delete what keeps the graph at the end of the step: ``del loss``.\n\n\
                           What `forward` stores as `ctx.x = x` lives as long as the graph, which `loss` keeps until the next step \
                           has a loss of its own.";

const OF_CREATE_GRAPH: &str = "Remove `create_graph=True` from `backward()`, unless the gradients are differentiated again; then \
                               take them by `torch.autograd.grad`.\nOr delete what keeps the graph at the end of the step: ``del loss``, \
                               and ``p.grad = None`` for each weight.\n\n\
                               Tensors of the backward pass stay as well, since `create_graph=True` makes them part of a graph that \
                               each gradient keeps.";

const OF_PART: &str = "Leave out what no loss uses: do not compute that part, or compute it under ``with torch.no_grad():``.\n\
                       Or delete what keeps it at the end of the step: ``del outputs, losses``.\n\n\
                       The backward pass has freed the rest of the pass: what stays leads to no loss that was passed to it, \
                       such as a head whose weight is 0.";

/// Of GANs: a discriminator whose loss goes through the generator needs `retain_graph`.
const OF_RETAIN_GRAPH: &str = "Remove `retain_graph=True` from `backward()` or `torch.autograd.grad()`; a \
                               discriminator that is trained on ``fake.detach()`` does without.\n\
                               Or delete what keeps the graph at the end of the step: ``del loss, output``.\n\n\
                               `retain_graph=True` keeps what the backward pass would have freed, and a variable such as `loss` or `output` \
                               keeps the graph.";

/// Returns true if most memory that the middle step leaves is alive when half of the next step's graph is made.
///
/// Tensors held by a function's variables are freed when it returns, before the next pass.
fn meet_the_next(study: &Study<'_>, rows: &[&Kept]) -> bool {
    let allocations = &study.timeline.allocations;
    let steps = study.repeats();
    let middle = (steps.len() - 1) / 2;
    let Some((&step, &next)) = steps.get(middle).zip(steps.get(middle + 1)) else { return false };
    let moment = half_made(study, next);
    let stacks: HashSet<StackId> = rows.iter().map(|kept| kept.stack).collect();
    let (mut left, mut met) = (0_u64, 0_u64);
    for id in (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId) {
        let (size_bytes, stack) = row_of(study, id);
        if allocations.dies_after(id, step.end) && stacks.contains(&stack) {
            left = left.saturating_add(size_bytes);
            met = met.saturating_add(if allocations.dies_after(id, moment) { size_bytes } else { 0 });
        }
    }
    left > 0 && met * 2 > left
}

/// Returns the first moment at which half of what a step's forward passes hold at most is there.
fn half_made(study: &Study<'_>, step: Step) -> u32 {
    let allocations = &study.timeline.allocations;
    let pass = ForwardPass::of(study, step);
    let ids = (allocations.born_by(step.start)..allocations.born_by(step.end)).map(AllocationId);
    let held = ids.filter(|&id| phase_of(study, id) == Phase::Forward && allocations.dies_after(id, pass.moment));
    let mut bytes = 0_u64;
    held.map(|id| (allocations.born_at(id.0), row_of(study, id).0))
        .find(|row| {
            bytes = bytes.saturating_add(row.1);
            bytes.saturating_mul(2) >= pass.bytes
        })
        .map_or(pass.moment, |(born, _)| born)
}

/// Reports recomputed activations that outlive the backward for which they were recomputed.
fn recomputed(study: &Study<'_>) -> Option<Finding> {
    finding(
        study,
        &rows(study, Course::Renewed, Phase::Recompute),
        None,
        (FindingCode::RecomputedActivationsStay, "Recomputed activations stay after backward"),
        "The recomputation in the backward pass allocates them, and they stay alive until the next step replaces them.",
        "Store ``attended.detach()`` instead of `attended` in an attribute of a checkpointed layer, or store \
         nothing.\n\n\
         Something in these layers keeps a tensor with its graph, such as `self.attended = attended`, which undoes \
         part of what checkpointing saves.",
    )
}

fn is_little(study: &Study<'_>, bytes: u64) -> bool {
    bytes == 0 || bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1
}

fn rows<'a>(study: &'a Study<'_>, course: Course, phase: Phase) -> Vec<&'a Kept> {
    study.growth.kept.iter().filter(|kept| kept.course == course && kept.phase == phase).collect()
}

/// Creates a finding about memory at the ends of steps, unless it is negligible.
fn finding(
    study: &Study<'_>,
    rows: &[&Kept],
    line: Option<SourceLine>,
    (code, what): (FindingCode, &str),
    shows: &str,
    advice: &str,
) -> Option<Finding> {
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    if is_little(study, bytes) {
        return None;
    }
    let weighed = || rows.iter().map(|kept| (kept.end_bytes, kept.stack));
    let in_line = line.as_ref().map(|line| format!(", in {}", line.place()));
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let detail = in_line.unwrap_or_else(|| format!(" in {}", format::counted(count, "allocation")));
    // Backward runs on threads of its own, so the line of the program that calls it is used.
    let line = line.or_else(|| line_of_part(study, weighed())).or_else(|| line_of_backward(study));
    let look = |line: &SourceLine| format!("The memory comes from the call at `{}`.", line.place());
    let advice = Advice::of(advice).because(&line.as_ref().map_or_else(String::new, look));
    let mut by_bytes = rows.to_vec();
    by_bytes.short_sort_by_key(|kept| std::cmp::Reverse(kept.end_bytes));
    let confidence = if study.growth.steps > 2 { Confidence::High } else { Confidence::Medium };
    let found = Finding::warning(study, code, confidence, Rank::Cause, bytes)
        .titled(&format!("{what}: {}", format::bytes(bytes)), [detail])
        .shown(shows.to_owned(), events_of(study, &by_bytes), weighed());
    Some(Finding { line, advice, ..found })
}
