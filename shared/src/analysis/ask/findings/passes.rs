//! Finds several forward passes whose graphs are alive at once before one backward.
//!
//! Idea: each pass of a micro-batch ends with a number, its loss. If a program calls its model several times from one
//! line, and as many numbers or inputs wait for backward, their losses were combined first. Layers that are alike, two
//! views of one sample or a second network do not each produce a loss. If backward ran in between and freed nothing, it
//! was told to keep the graph.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, line_of, phase_of, row_of};
use crate::analysis::study::left_of_pass::ForwardPass;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::sites::{Operation, SpineId};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime};
use crate::base::format;
use crate::trace::{Action, StackId};
use hashbrown::HashMap;

/// With fewer stacks, single tensors would look like a graph.
const LEAST_STACKS: usize = 5;

/// Each pass without a backward must leave tensors of so many stacks: a result, and what led to it.
const LEAST_OF_EACH: usize = 3;

/// Stacks with less than 1/1000 of a pass's bytes are ignored, because they may occur once for several passes.
const LEAST_OF_PASS: u64 = 1000;

/// The rarest 1/10 of a pass's stacks do not determine the number of passes.
const SELDOM: usize = 10;

/// A call counts as a pass if at least 1/64 of the bytes that wait for backward belong to it.
const LEAST_WAITING: u64 = 64;

/// Passes whose losses leave nothing must be at least 1/4 of the peak: they may be those of an inner loop.
///
/// Gradients that are 1/4 of what passes hold are part of a graph, too.
const LEAST_SHARE: u64 = 4;

/// Two passes may be two views of one sample, or a real and a generated one.
const LEAST_PASSES: u64 = 3;

/// A loss is a number of at most 8 bytes.
const NUMBER_BYTES: u64 = 8;

/// Reports several passes in the step of a pass, unless backward uses none of them.
pub(super) fn finding(study: &Study<'_>, pass: &ForwardPass, unused: &[Vec<Lifetime>]) -> Option<Finding> {
    let step = *study.repeats().iter().find(|step| step.contains(pass.moment))?;
    // Without stacks of a Python program, calls can't be counted.
    let has_program = pass.by_stack.keys().any(|&stack| study.sites.of_stack(stack).spine != SpineId::NONE);
    let (passes, stack) = if has_program {
        let (passes, stack) = calls(study, step, pass)?;
        (passes, Some(stack))
    } else {
        (by_stacks(pass)?, None)
    };
    let alive = |row: &Lifetime| if row.is_alive_at(pass.moment) { row.bytes } else { 0 };
    let unused_bytes: u64 = unused.iter().flatten().map(alive).sum();
    if unused_bytes * 2 > pass.bytes {
        return None;
    }
    let line = stack.and_then(|stack| line_of(study, stack, Own::Call));
    if let Some((bytes, of_backward)) = without_backward(study, step, pass, passes) {
        let what = format!("{passes} forward passes keep {} for a backward pass that never runs", format::bytes(bytes));
        let shows = format!(
            "After event {}, tensors of {passes} forward passes are live from {}, and no backward pass frees them.",
            format::count(u64::from(pass.moment).saturating_sub(1)),
            format::counted(pass.by_stack.len() as u64, "stack"),
        );
        let rows = pass.by_stack.iter().map(|(&stack, row)| (row.bytes, stack));
        let found = Finding::warning(study, FindingCode::EvaluationWithGraph, Confidence::Medium, Rank::Cause, bytes);
        let is_second = of_backward * LEAST_SHARE >= bytes;
        let advice = if is_second { OF_GRADIENTS } else { OF_RESULTS };
        return Some(found.placed(&what, ", in ", line).shown(shows, pass.moment.checked_sub(1), rows).advised(advice));
    }
    // Gradients that are taken of each pass, such as those of an inner loop, have used them one by one.
    let taken = study
        .phases
        .runs()
        .iter()
        .filter(|(end, phase)| *phase == Phase::Backward && (step.start..pass.moment).contains(end));
    if taken.count() as u64 + 1 >= passes {
        return None;
    }
    let what = format!(
        "{passes} forward passes run before one backward pass: their graphs hold {}",
        format::bytes(pass.bytes)
    );
    let shows = format!(
        "After event {}, tensors from {} are saved for the backward pass, and {passes} forward passes wait for it.",
        format::count(u64::from(pass.moment).saturating_sub(1)),
        format::counted(pass.by_stack.len() as u64, "stack"),
    );
    let rows = pass.by_stack.iter().map(|(&stack, row)| (row.bytes, stack));
    let (code, bytes) = (FindingCode::SeveralGraphsAtOnce, pass.bytes / passes * (passes - 1));
    let found = Finding::warning(study, code, Confidence::Medium, Rank::Cause, bytes);
    Some(found.placed(&what, ", in ", line).shown(shows, pass.moment.checked_sub(1), rows).advised(
        "Call ``(loss / n).backward()`` for each micro-batch: the gradients add up, and only one graph is in memory at a \
         time.\n\n\
         Here the losses of several micro-batches are summed or stacked before `backward()`. A pipeline schedule does \
         this on purpose, and so does a recurrent model that learns over several chunks of a sequence.",
    ))
}

const OF_RESULTS: &str = "Detach each result before it is kept: ``tiles.append(out.detach())``, or move it to host memory: \
                          ``out.detach().cpu()``.\n\
                          Or run these passes under ``with torch.no_grad():``, if nothing in them needs a gradient.\n\n\
                          The results are collected with their graphs, and freed with them.";

const OF_GRADIENTS: &str = "Take gradients without `create_graph=True` where no training follows, as in an evaluation, and keep results \
                            without their graphs: ``out.detach()``.\n\n\
                            `create_graph=True` makes tensors of the backward pass part of a graph, which lives as long as any \
                            result of it, such as adapted weights or a picture.";

/// Returns what a step's passes hold together, and how much of it backward has made, if most of it is freed between the last
/// of them and the next backward pass.
fn without_backward(study: &Study<'_>, step: Step, pass: &ForwardPass, passes: u64) -> Option<(u64, u64)> {
    let allocations = &study.timeline.allocations;
    let ids = (allocations.born_by(step.start)..allocations.born_by(pass.moment)).map(AllocationId);
    let of_pass = ids.filter(|&id| allocations.dies_after(id, pass.moment));
    let (mut all, mut freed, mut of_backward) = (0_u64, 0_u64, 0_u64);
    for id in of_pass {
        let (died, bytes) = (allocations.died[id.index()], row_of(study, id).0);
        let ends = died >= study.timeline.events();
        all += bytes;
        of_backward += if phase_of(study, id) == Phase::Backward { bytes } else { 0 };
        freed += if ends || matches!(study.phases.at(died), Phase::Backward | Phase::Recompute) { 0 } else { bytes };
    }
    // Without a graph, there are only the results.
    let of_each = pass.by_stack.values().filter(|row| row.count + 1 >= passes).count();
    (of_each >= LEAST_OF_EACH && freed * 2 > all).then_some((freed, of_backward))
}

#[derive(Clone, Copy)]
struct Calls {
    stack: StackId,
    /// Number of calls with enough bytes that wait for backward.
    count: u64,
    /// Bytes of the latest call that wait for backward.
    waiting_bytes: u64,
}

/// Counts the calls of the model from one place before backward, each with a graph and a loss that wait for it.
fn calls(study: &Study<'_>, step: Step, pass: &ForwardPass) -> Option<(u64, StackId)> {
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let allocations = &study.timeline.allocations;
    let mut called: HashMap<SpineId, Calls> = HashMap::new();
    let mut before = None;
    // Those that wait for backward, and all.
    let (mut numbers, mut all_numbers) = (0, 0);
    let mut inputs: HashMap<StackId, (u64, u64)> = HashMap::new();
    for event in step.start..pass.moment {
        if actions.at(event as usize) != Action::Alloc {
            continue;
        }
        let stack = stacks.at(event as usize);
        let site = study.sites.of_stack(stack);
        if site.spine == SpineId::NONE {
            continue;
        }
        let is_forward = study.phases.of_birth(event + 1, stack) == Phase::Forward;
        let id = allocations.of_event(event as usize)?;
        let waits = is_forward && allocations.dies_after(id, pass.moment);
        if site.in_module {
            let calls = called.entry(site.spine).or_insert(Calls { stack, count: 0, waiting_bytes: 0 });
            if before != Some((site.spine, true)) {
                calls.waiting_bytes = 0;
            }
            let is_enough = |bytes: u64| bytes.saturating_mul(LEAST_WAITING) >= pass.bytes;
            let was_enough = is_enough(calls.waiting_bytes);
            calls.waiting_bytes += if waits { allocations.size_bytes(id) } else { 0 };
            calls.count += u64::from(!was_enough && is_enough(calls.waiting_bytes));
        }
        before = Some((site.spine, site.in_module));
        let is_number = allocations.size_bytes(id) <= NUMBER_BYTES;
        numbers += u64::from(waits && is_number);
        all_numbers += u64::from(is_number && is_forward && !site.in_module);
        // Without C++ frames, any tensor of the program outside its modules may be an input.
        let is_known = matches!(site.operation, Operation::Bring | Operation::Make);
        if !site.in_module && !is_number && (is_known || site.operation == Operation::Unknown) {
            let (waiting, all) = inputs.entry(stack).or_default();
            *waiting += u64::from(is_known && allocations.dies_after(id, pass.moment));
            *all += 1;
        }
    }
    let most = called.values().max_by_key(|calls| (calls.count, std::cmp::Reverse(calls.stack)))?;
    let has_inputs = |is_enough: fn(&(u64, u64)) -> u64| inputs.values().any(|counts| is_enough(counts) >= most.count);
    // A loss that is added to another needs no tensor of its own, an input may be replaced, and the last loss comes later.
    let is_much = pass.bytes.saturating_mul(LEAST_SHARE) >= study.timeline.live_peak().1;
    let has_losses = || is_much && all_numbers + 1 >= most.count && has_inputs(|counts| counts.1);
    let is_told = numbers >= most.count || has_inputs(|counts| counts.0) || has_losses();
    (most.count >= LEAST_PASSES && is_told).then_some((most.count, most.stack))
}

/// Counts the passes by the tensors of each stack that wait for backward, if no stack shows the program's calls.
fn by_stacks(pass: &ForwardPass) -> Option<u64> {
    let rows = pass.by_stack.values().filter(|row| row.bytes.saturating_mul(LEAST_OF_PASS) >= pass.bytes);
    let mut counts: Vec<u64> = rows.map(|row| row.count).collect();
    counts.sort_unstable();
    (counts.len() >= LEAST_STACKS && counts[0] > 1).then(|| counts[counts.len() / SELDOM])
}
