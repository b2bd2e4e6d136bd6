//! Finds tensors that are collected for a while: outputs of an evaluation or of an epoch, which are then freed at once, and
//! batches that are kept from one epoch for the next.
//!
//! Within an evaluation the calls of the model are compared like steps; across an epoch, steps are examined whose
//! levels rise and then fall at once.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank, events_of};
use super::own_code::{Own, own_line, phase_of, row_of};
use crate::analysis::study::growth::{Course, Growth, Kept};
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::sites::{self, Operation, Rounds, Site, SpineId};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime};
use crate::base::{Severity, ShortSort, format};
use crate::trace::StackId;
use hashbrown::HashMap;
use std::ops::Range;

/// Less than 1/10 of the peak is not reported, because it does no harm.
const LEAST_SHARE: u64 = 10;

pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    let of_steps = [evaluation(study), epoch(study), data(study), gradients(study), cycles(study), queue(study)];
    of_steps.into_iter().chain([ahead(study), versions(study)]).flatten().collect()
}

/// Returns the batches and the gradients of batches that are reported.
pub(super) fn of_batches<'a>(study: &'a Study<'_>) -> impl Iterator<Item = &'a Kept> {
    kept_data(study).into_iter().chain(kept_gradients(study))
}

const LEAST_BATCHES: u64 = 8;

/// Returns batches that the steps of a first epoch leave and later ones do not, if they fill at least half of the peak.
fn kept_data<'a>(study: &'a Study<'_>) -> Vec<&'a Kept> {
    let is_kept = |kept: &Kept| kept.course == Course::Fills && is_data(study, kept) && kept.end_count >= LEAST_BATCHES;
    of_peak(study, study.growth.kept.iter().filter(|kept| is_kept(kept)).collect(), 2)
}

/// Returns gradients of inputs that stay likewise.
fn kept_gradients<'a>(study: &'a Study<'_>) -> Vec<&'a Kept> {
    let is_kept = |kept: &&Kept| {
        // Gradients of weights differ in size and belong to a few steps.
        let is_one_size = kept.size_bytes.is_some() && kept.count_per_step <= 1;
        kept.course == Course::Fills && kept.phase == Phase::Backward && is_one_size && kept.end_count >= LEAST_BATCHES
    };
    of_peak(study, study.growth.kept.iter().filter(is_kept).collect(), LEAST_SHARE)
}

/// Returns the rows if they hold that fraction of the peak.
fn of_peak<'a>(study: &Study<'_>, rows: Vec<&'a Kept>, fraction: u64) -> Vec<&'a Kept> {
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    if bytes.saturating_mul(fraction) >= study.timeline.live_peak().1 { rows } else { Vec::new() }
}

/// Reports gradients of inputs, which no optimizer clears.
fn gradients(study: &Study<'_>) -> Option<Finding> {
    let rows = kept_gradients(study);
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let what = format!("Gradients of {count} inputs stay: {}", format::bytes(bytes));
    let advice = "Ask for the gradient alone: ``torch.autograd.grad(loss, x)``, which stores it nowhere.\n\
                  Or clear it when it was used: ``x.grad = None``.\n\n\
                  `backward()` leaves a gradient at every input with `requires_grad_(True)`, and no optimizer clears it. It \
                  stays as long as the input does, such as a data set that is kept on the GPU.";
    finding(study, &rows, bytes, FindingCode::GradientsStay, &what, advice)
}

/// Reports batches that stay, which may be meant.
fn data(study: &Study<'_>) -> Option<Finding> {
    let rows = kept_data(study);
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    let last = rows.iter().map(|kept| kept.last_rise).max()? + 1;
    let what = format!("The batches of the first {last} steps stay on the GPU: {}", format::bytes(bytes));
    let advice = "If the data set is not meant to be on the GPU, keep no batch: loop over the loader again instead of \
                  `itertools.cycle(loader)` or `list(loader)`, which keep all of its first round.\n\
                  Or let the loader give batches in host memory, and move each one when it is used: ``batch.cuda()``.\n\n\
                  Later steps add none, so that a larger data set needs more memory, and a longer training does not.";
    let found = finding(study, &rows, bytes, FindingCode::BatchesKept, &what, advice)?;
    Some(Finding { severity: Severity::Info, ..found })
}

/// Reports batches that are brought faster than they are used.
fn queue(study: &Study<'_>) -> Option<Finding> {
    // Where operations are not recorded, what is made outside of modules has no purpose that is known.
    let is_brought = |kept: &Kept| {
        let is_unknown = kept.phase == Phase::Unknown && !study.sites.of_stack(kept.stack).in_module;
        is_data(study, kept) || is_unknown
    };
    let is_queued = |kept: &&Kept| kept.course == Course::Drains && is_brought(kept);
    let rows: Vec<&Kept> = study.growth.kept.iter().filter(is_queued).collect();
    let bytes = rows.iter().map(|kept| kept.most_bytes).sum();
    let what = format!("Batches wait on the GPU: up to {}", format::bytes(bytes));
    let advice = "Fill the queue up to its length, instead of adding as many batches for each one that is taken: \
                  ``while len(queue) < ahead: queue.append(next(batches).cuda())``.\n\
                  One or two batches ahead are enough, as the GPU takes no longer to wait for more.\n\n\
                  More batches are brought than steps use, for several steps, and later ones use them up.";
    finding(study, &rows, bytes, FindingCode::BatchesKept, &what, advice)
}

/// A batch has at most 4 tensors of one line, such as those of an input and its target.
const MOST_OF_STEP: usize = 4;

/// Reports the most batches that are brought before the first of them is used, if that happens again and again.
///
/// They are used up when as many steps have run, or each step uses the same number of them.
fn ahead(study: &Study<'_>) -> Option<Finding> {
    let steps = study.steps.as_ref().map(|steps| &steps.steps)?;
    let allocations = &study.timeline.allocations;
    // With the number of steps that use them.
    let mut found: Vec<(usize, Vec<Lifetime>)> = Vec::new();
    let mut start = 0;
    for (index, step) in steps.iter().enumerate() {
        let ids = (allocations.born_by(start)..allocations.born_by(step.end)).map(AllocationId);
        start = step.end;
        let is_pass = |&id: &AllocationId| study.sites.of_stack(row_of(study, id).1).in_module;
        let pass = ids.clone().find(|id| is_pass(id) && phase_of(study, *id) == Phase::Forward);
        let Some(moment) = pass.map(|id| allocations.born_at(id.0)) else { continue };
        let mut of_stack: HashMap<StackId, Vec<Lifetime>> = HashMap::new();
        for row in ids.map(|id| Lifetime::of(allocations, study.device, id)).take_while(|row| row.born < moment) {
            if row.died > moment && is_input(study.sites.of_stack(row.stack)) {
                of_stack.entry(row.stack).or_default().push(row);
            }
        }
        // The last step may free them itself, and a variable has the last batch until the next one comes.
        found.extend(of_stack.into_values().filter(|rows| rows.len() as u64 >= LEAST_BATCHES).filter_map(|rows| {
            let died = rows.iter().map(|row| row.died).max().unwrap_or(0);
            let lived = steps.partition_point(|step| step.end < died) - index;
            // What is there from the first step to the end may be a model.
            if lived == steps.len() {
                return None;
            }
            let is_used = |steps: &usize| {
                let of_step = rows.len() / steps.max(&1);
                *steps as u64 >= LEAST_STEPS_HELD && of_step * steps == rows.len() && of_step <= MOST_OF_STEP
            };
            let used = [lived, lived + 1, lived.saturating_sub(1)].into_iter().find(is_used)?;
            Some((used, rows))
        }));
    }
    let bytes = |rows: &[Lifetime]| rows.iter().map(|row| row.bytes).sum::<u64>();
    let most = found.iter().max_by_key(|(_, rows)| (bytes(rows), rows[0].born));
    let (used, rows) = most.filter(|_| found.len() > 1)?;
    let what = format!("Batches of {used} steps are on the GPU before they are used: {}", format::bytes(bytes(rows)));
    let advice = "Loop over the loader itself, which makes a batch when it is needed: `sorted(loader)` and `list(loader)` make \
                  all of them first. To use them in another order, sort the indices in a `sampler`.\n\
                  Or let the loader give batches in host memory, and move each one when it is used: ``batch.cuda()``.\n\n\
                  Each time, later steps only use them.";
    at_once(study, rows, FindingCode::BatchesKept, &what, advice)
}

/// Returns true for tensors that the program brings to the device or makes there, or may do so without C++ frames.
fn is_input(site: Site) -> bool {
    let is_made = matches!(site.operation, Operation::Bring | Operation::Make | Operation::Unknown);
    !site.in_module && site.spine != SpineId::NONE && is_made
}

/// Fewer lengths at once may be those of batches.
const LEAST_VERSIONS: usize = 8;

/// Reports tensors that are joined into a longer one again and again without gradients, if the shorter ones stay.
fn versions(study: &Study<'_>) -> Option<Finding> {
    let allocations = &study.timeline.allocations;
    let mut of_stack: HashMap<StackId, Vec<Lifetime>> = HashMap::new();
    for (id, _) in allocations.alive_at(study.timeline.live_peak().0) {
        let row = Lifetime::of(allocations, study.device, id);
        let is_joined = matches!(study.sites.of_stack(row.stack).operation, Operation::Join | Operation::Unknown);
        if is_joined && phase_of(study, id) == Phase::Evaluation {
            of_stack.entry(row.stack).or_default().push(row);
        }
    }
    of_stack.retain(|_, rows| {
        rows.short_sort_by_key(|row| row.born);
        let mut sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
        sizes.dedup();
        let rise = |pair: &[u64]| pair[1].checked_sub(pair[0]);
        sizes.len() >= LEAST_VERSIONS
            && sizes.windows(2).all(|pair| rise(pair).is_some() && rise(pair) == rise(&sizes[..2]))
    });
    let mut rows: Vec<Lifetime> = of_stack.into_values().flatten().collect();
    rows.short_sort_by_key(|row| row.born);
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let what = format!("Shorter versions of a tensor stay beside longer ones: {}", format::bytes(bytes));
    let advice = "Keep the latest version alone, such as the one cache of keys and values that the next step reads, and of \
                  earlier steps only what is needed later, such as tokens and scores.\n\
                  Or write into a tensor that has room for all steps: ``cache[:, step] = key``.\n\n\
                  `torch.cat` makes a new tensor that also holds the earlier one. A list, or the objects that it has, keeps \
                  each of them, so that memory grows with the square of the length.";
    at_once(study, &rows, FindingCode::TensorGrows, &what, advice)
}

/// Reports allocations that are live together.
fn at_once(study: &Study<'_>, rows: &[Lifetime], code: FindingCode, what: &str, advice: &str) -> Option<Finding> {
    let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    let moment = rows.last()?.born;
    if bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let weighed = || rows.iter().map(|row| (row.bytes, row.stack));
    let shows = format!(
        "After event {}, {} of them are live, {} in all.",
        format::count(u64::from(moment).saturating_sub(1)),
        format::count(rows.len() as u64),
        format::bytes(bytes)
    );
    let found = Finding::warning(study, code, Confidence::Medium, Rank::Cause, bytes);
    let own = own_line(study, weighed(), Own::Call);
    Some(found.placed(what, ", in ", own).shown(shows, moment.checked_sub(1), weighed()).advised(advice))
}

/// Tensors of fewer steps at a time may be those of a window, or of what the program still works on.
const LEAST_STEPS_HELD: u64 = 4;

/// Reports tensors of forward passes that stay for several steps, of which now and then some are freed: Python frees
/// reference cycles only when its garbage collector runs.
fn cycles(study: &Study<'_>) -> Option<Finding> {
    let is_cyclic = |kept: &&Kept| {
        let of_step = kept.end_bytes / kept.end_count.max(1) * kept.count_per_step.max(1);
        let rises_to_the_end = kept.last_rise as usize * 4 >= study.growth.steps * 3;
        let is_held = kept.most_bytes >= of_step.saturating_mul(LEAST_STEPS_HELD);
        kept.course == Course::Renewed && kept.phase == Phase::Forward && rises_to_the_end && is_held
    };
    let rows: Vec<&Kept> = study.growth.kept.iter().filter(is_cyclic).collect();
    let bytes = rows.iter().map(|kept| kept.most_bytes).sum();
    let what = format!("Reference cycles keep {} of earlier steps", format::bytes(bytes));
    let is_of_function = rows.iter().any(|kept| study.sites.of_stack(kept.stack).is_of_function);
    let advice = if is_of_function {
        "Keep tensors of a `torch.autograd.Function` by ``ctx.save_for_backward(x, y)``, and read them from \
         `ctx.saved_tensors`.\n\n\
         An output that is an attribute of `ctx` refers to the graph, which refers to `ctx`: a reference cycle, which is freed \
         only when Python's garbage collector runs."
    } else {
        "Break the reference cycle, as by `weakref`, `del` or `None`: an object that refers to itself through others is \
         freed only when Python's garbage collector runs.\n\
         [record] To see which one it is, record with ``snapscope record --holders --steps 1..8 -- python train.py``."
    };
    let found = finding(study, &rows, bytes, FindingCode::CollectedInEpoch, &what, advice)?;
    let own = own_line(study, rows.iter().map(|kept| (kept.most_bytes, kept.stack)), Own::Innermost);
    Some(found.placed(&what, ", in ", own))
}

/// Returns true for tensors that the program brings to the device or makes there.
fn is_data(study: &Study<'_>, kept: &Kept) -> bool {
    let site = study.sites.of_stack(kept.stack);
    !site.in_module && (kept.phase == Phase::Data || matches!(site.operation, Operation::Bring | Operation::Make))
}

/// Reports the evaluation that collects the most bytes until its end.
fn evaluation(study: &Study<'_>) -> Option<Finding> {
    study.steps.as_ref()?;
    let of_range = |range: Range<u32>| {
        let rounds = sites::rounds(study.device, &study.sites, range)?;
        let collected = |rounds: &[Step]| {
            let growth = Growth::find(study.device, &study.timeline.allocations, rounds, &study.phases);
            let rows: Vec<Kept> = growth.kept.into_iter().filter(|kept| kept.course == Course::Grows).collect();
            (rows.iter().map(|kept| kept.end_bytes).sum::<u64>(), rounds.len(), rows)
        };
        // At the end of the last one, all of it may be gone.
        let earlier = || rounds.rounds.split_last().filter(|(_, earlier)| earlier.len() >= Rounds::LEAST);
        let whole = Some(collected(&rounds.rounds)).filter(|found| found.0 > 0);
        whole.or_else(|| earlier().map(|(_, earlier)| collected(earlier)))
    };
    let (bytes, calls, rows) = evaluations(study).into_iter().filter_map(of_range).max_by_key(|found| found.0)?;
    if is_for_training(study, &rows) {
        return None;
    }
    let is_collected = rows.iter().any(|kept| study.sites.of_stack(kept.stack).is_collected);
    let advice = if is_collected {
        "Set ``eval_accumulation_steps=8`` in `TrainingArguments`, which moves predictions to host memory every few \
         batches.\n\
         Pass `preprocess_logits_for_metrics` to `Trainer` to keep only what the metric needs, such as \
         `logits.argmax(-1)`.\n\n\
         The framework gathers all predictions on the GPU until the evaluation ends."
    } else {
        "Update the metric after each batch, and keep no output.\n\
         Or move each output to host memory: ``output.cpu()``.\n\n\
         The outputs of all batches are kept until the evaluation ends."
    };
    let rows: Vec<&Kept> = rows.iter().collect();
    let what = format!("The evaluation keeps its outputs on the GPU: {} after {calls} batches", format::bytes(bytes));
    finding(study, &rows, bytes, FindingCode::EvaluationOutputsCollected, &what, advice)
}

/// Returns true if most of what an evaluation has left is alive while a later backward pass runs: what a policy did is
/// collected to train on it, and an evaluation's outputs are read when it ends.
fn is_for_training(study: &Study<'_>, rows: &[Kept]) -> bool {
    let (allocations, phases) = (&study.timeline.allocations, &study.phases);
    let last = rows.iter().filter_map(|kept| kept.latest).max();
    let backward = last.and_then(|last| phases.start_of_backward(phases.run_of(allocations.born_at(last.0))));
    let Some(end) = backward.map(|backward| phases.end_of_backward(backward)) else { return false };
    let is_alive = |kept: &&Kept| kept.latest.is_some_and(|latest| allocations.dies_after(latest, end));
    let alive_bytes: u64 = rows.iter().filter(is_alive).map(|kept| kept.end_bytes).sum();
    alive_bytes * 2 > rows.iter().map(|kept| kept.end_bytes).sum()
}

/// Returns the ranges of events in which the model is evaluated.
pub(super) fn evaluations(study: &Study<'_>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let mut start = 0;
    let mut is_open = false;
    for &(end, phase) in study.phases.runs() {
        let goes_on = is_open && matches!(phase, Phase::Data | Phase::Unknown);
        match (phase, ranges.last_mut()) {
            (Phase::Evaluation, Some(last)) if is_open => last.end = end,
            (Phase::Evaluation, _) => ranges.push(start..end),
            _ => {}
        }
        is_open = phase == Phase::Evaluation || goes_on;
        start = end;
    }
    ranges
}

/// Reports levels that rise over several steps and fall at once.
fn epoch(study: &Study<'_>) -> Option<Finding> {
    let rows: Vec<&Kept> = study.growth.kept.iter().filter(|kept| kept.course == Course::Collected).collect();
    let bytes = rows.iter().map(|kept| kept.most_bytes).sum();
    let what = format!("Tensors add up to {} over several steps and are then freed at once", format::bytes(bytes));
    let are_most = |is: &dyn Fn(&Kept) -> bool| {
        let of_kind = rows.iter().filter(|kept| is(kept)).map(|kept| kept.most_bytes);
        of_kind.sum::<u64>() * 2 > bytes
    };
    let advice = if are_most(&|kept| study.sites.of_stack(kept.stack).is_hooked) {
        "Remove the hook when what it looks at is over, as at the end of an evaluation: ``handle.remove()``.\n\
         Or store a number or a copy in host memory: ``output.detach().cpu()``.\n\n\
         The modules that allocate the tensors have hooks. A forward hook runs in each call of its module, in training \
         and in evaluation, until it is removed, and one that is registered again runs twice."
    } else if are_most(&|kept| is_data(study, kept)) {
        "Keep samples in host memory, and move each batch to the GPU when it is used: ``batch.cuda()``.\n\
         Or limit the size of the cache.\n\n\
         Samples or batches are collected until an epoch ends, perhaps by a cache of the dataset, so more data needs \
         more memory."
    } else {
        "Store numbers: ``loss.item()``.\n\
         Or move what you need to host memory: ``output.detach().cpu()``.\n\n\
         The tensors are collected until an epoch ends, perhaps in a list, so a longer epoch needs more memory."
    };
    finding(study, &rows, bytes, FindingCode::CollectedInEpoch, &what, advice)
}

fn finding(
    study: &Study<'_>,
    rows: &[&Kept],
    bytes: u64,
    code: FindingCode,
    what: &str,
    advice: &str,
) -> Option<Finding> {
    if bytes == 0 || bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let weighed = || rows.iter().map(|kept| (kept.most_bytes, kept.stack));
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let shows = format!(
        "From one step or batch to the next, {} from {} accumulated.",
        format::counted(count, "allocation"),
        format::counted(rows.len() as u64, "stack")
    );
    let found = Finding::warning(study, code, Confidence::Medium, Rank::Growth, bytes);
    let own = own_line(study, weighed(), Own::Call);
    Some(found.placed(what, ", in ", own).shown(shows, events_of(study, rows), weighed()).advised(advice))
}
