//! Reports what the peak consists of.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank, SourceLine, title_of_parts};
use super::own_code::{Own, line_of, own_line, phase_of, row_of};
use crate::analysis::study::by_design;
use crate::analysis::study::categories::live_by_category;
use crate::analysis::study::phases::{Phase, PhaseBasis};
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::category::Category;
use crate::analysis::track::peak::{StackBytes, live_by_stack};
use crate::analysis::track::stack_title::own_frame;
use crate::base::format;
use crate::trace::{Action, FrameId, StackId};
use hashbrown::HashSet;

/// A tensor is large from 1/10 of the peak on, or from 1/16 if the line itself makes it and not a layer that it calls; and
/// from 64 MiB on, which is more than any workspace.
const LARGE_SHARE: u64 = 10;
const LARGE_SHARE_OF_OWN: u64 = 16;
const LEAST_LARGE: u64 = 64 << 20;

/// Categories beyond this number are small.
const MOST_CATEGORIES: usize = 3;

/// Reports what the peak consists of: by category if phases are known from frames, otherwise by place.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (moment, peak_bytes) = study.timeline.live_peak();
    if peak_bytes == 0 {
        return None;
    }
    let allocations = &study.timeline.allocations;
    let groups = live_by_stack(study.device, allocations, moment);
    let largest = groups.first().map_or_else(String::new, |group| {
        format!("the largest part, {}, is from {}", format::percent(group.bytes, peak_bytes), place(study, group))
    });
    // A category that is inferred from the shape of the curve would be a guess.
    let shares = if study.phases.are_told() { live_by_category(study, moment) } else { Vec::new() };
    let parts: Vec<String> = shares
        .iter()
        .filter(|share| share.bytes.saturating_mul(100) >= peak_bytes)
        .take(MOST_CATEGORIES)
        .map(|share| format!("{} {}", format::percent(share.bytes, peak_bytes), share.category.plural()))
        .collect();
    // Without events, live bytes are known for one moment only.
    let (bytes, has_trace) = (format::bytes(peak_bytes), study.timeline.events() > 0);
    let cause = big_thing(study, moment, peak_bytes).or_else(|| recomputed(study, moment, peak_bytes));
    let whole = match (&cause, has_trace, parts.first()) {
        (Some(cause), ..) => cause.title.clone(),
        (None, true, Some(first)) => format!("The peak of {bytes} is {first}"),
        (None, true, None) => format!("The peak is {bytes}"),
        (None, false, _) => format!("{bytes} was live at the snapshot"),
    };
    let first = groups.first().map(|group| format!("; largest: {}", named(study, group)));
    let details = first.into_iter().chain(parts.iter().skip(1).map(|part| format!(", {part}")));
    let count = format::counted(groups.iter().map(|group| group.count).sum(), "allocation");
    let stacks = groups.iter().filter(|group| group.stack.has_frames()).count() as u64;
    let from = match stacks {
        0 => "without a stack".to_owned(),
        _ => format!("from {}", format::counted(stacks, "stack")),
    };
    let told = parts.iter().map(|part| format!(", {part}")).collect::<String>();
    let shows = format!("Live at this moment: {count} {from}{told}; {largest}.");
    let advice = match (&cause, stacks, has_trace) {
        (Some(cause), ..) => cause.advice,
        (None, 0, _) => NO_STACKS,
        (None, _, false) => NO_TRACE,
        (None, _, true) => advice(study, shares.first().map_or(Category::Unknown, |share| share.category)),
    };
    let is_guess = study.phases.basis() == PhaseBasis::Operations;
    let confidence = if is_guess { Confidence::Medium } else { Confidence::High };
    let rows = groups.iter().map(|group| (group.bytes, group.stack));
    let found = Finding::note(study, FindingCode::Peak, confidence, Rank::Peak, peak_bytes)
        .titled(&whole, details)
        .shown(shows, moment.checked_sub(1), rows)
        .advised(advice);
    Some(Finding { line: cause.map(|cause| cause.line), ..found })
}

struct Cause {
    title: String,
    line: SourceLine,
    advice: &'static str,
}

/// Returns activations that checkpointing computes again, if they are at least 1/2 of a peak.
fn recomputed(study: &Study<'_>, moment: u32, peak_bytes: u64) -> Option<Cause> {
    let alive = study.timeline.allocations.alive_at(moment).map(|(id, _)| id);
    let again = alive.filter(|&id| phase_of(study, id) == Phase::Recompute);
    let rows: Vec<(u64, StackId)> = again.map(|id| row_of(study, id)).collect();
    let bytes = rows.iter().map(|row| row.0).sum::<u64>();
    let line = own_line(study, rows, Own::Call).filter(|_| bytes.saturating_mul(2) >= peak_bytes)?;
    let whole = format!("{} of the peak is recomputed at once", format::bytes(bytes));
    Some(Cause { title: title_of_parts(&whole, [format!(", in {}", line.place())]), line, advice: RECOMPUTED })
}

/// Returns the line whose large tensors are at least 1/2 of a peak, with those of their sizes that have no stack.
///
/// Such tensors are of backward, whose threads have no Python frames, and a gradient is as large as what it belongs to.
fn big_thing(study: &Study<'_>, moment: u32, peak_bytes: u64) -> Option<Cause> {
    let allocations = &study.timeline.allocations;
    let least = |share: u64| LEAST_LARGE.max(peak_bytes / share);
    let is_large = |id: AllocationId, bytes: u64| {
        bytes >= least(LARGE_SHARE)
            || bytes >= least(LARGE_SHARE_OF_OWN) && innermost_is_own(study, row_of(study, id).1)
    };
    let large = allocations.alive_at(moment).filter(|row| is_large(row.0, row.1));
    let large: Vec<(u64, StackId, Phase)> = large
        .map(|(id, size_bytes)| (size_bytes, row_of(study, id).1, phase_of(study, id)))
        .filter(|row| !matches!(row.2, Phase::Setup | Phase::Optimizer) && !study.sites.of_stack(row.1).is_collected)
        .collect();
    let is_of_backward = |row: &&(u64, StackId, Phase)| row.2 == Phase::Backward && !row.1.has_frames();
    let mut framed: Vec<(u64, StackId)> =
        large.iter().map(|row| (row.0, row.1)).filter(|row| row.1.has_frames()).collect();
    if framed.is_empty() {
        // Only gradients are left of it: the step has made tensors of their sizes before.
        let sizes: HashSet<u64> = large.iter().filter(is_of_backward).map(|row| row.0).collect();
        let step = study.repeats().iter().find(|step| step.contains(moment))?;
        let made = (allocations.born_by(step.start)..allocations.born_by(moment)).map(AllocationId);
        framed = made
            .filter(|&id| sizes.contains(&allocations.size_bytes(id)) && phase_of(study, id) == Phase::Forward)
            .map(|id| row_of(study, id))
            .collect();
    }
    let line = own_line(study, framed.iter().copied(), Own::Innermost)?;
    let is_of_line = |stack| line_of(study, stack, Own::Innermost).as_ref() == Some(&line);
    let sizes: HashSet<u64> = framed.iter().filter(|row| is_of_line(row.1)).map(|row| row.0).collect();
    let (of_line, others): (Vec<_>, Vec<_>) = large.into_iter().partition(|row| is_of_line(row.1));
    let is_alike = |row: &&(u64, StackId, Phase)| is_of_backward(row) && sizes.contains(&row.0);
    let of_backward: u64 = others.iter().filter(is_alike).map(|row| row.0).sum();
    let bytes = of_line.iter().map(|row| row.0).sum::<u64>() + of_backward;
    let backward = if of_backward > 0 { " and its backward" } else { "" };
    (bytes.saturating_mul(2) >= peak_bytes).then(|| {
        let (share, peak) = (format::percent(bytes, peak_bytes), format::bytes(peak_bytes));
        let is_of_step = of_backward > 0 || of_line.iter().any(|row| row.2 != Phase::Unknown);
        let advice = if is_of_step { BIG_THING } else { BIG_COPY };
        Cause { title: format!("{share} of the peak of {peak} is {}{backward}", line.place()), line, advice }
    })
}

const BIG_THING: &str = "Compute this in parts, such as some rows at a time, each under `torch.utils.checkpoint` if \
                         gradients go through it.\n\
                         Or use a function that never holds all of it, such as `torch.cdist` for distances or \
                         `scaled_dot_product_attention` for attention.";

const BIG_COPY: &str = "Compute this in parts, such as some rows at a time.\n\
                        If it copies what is kept, such as a data set to shuffle it, draw indices instead, and keep the data \
                        in host memory.";

const RECOMPUTED: &str = "Checkpoint smaller parts, such as each block in a call of its own.\n\
                          Or use a smaller micro-batch with gradient accumulation.\n\n\
                          All layers of one `checkpoint` are computed again together, so that their activations are in \
                          memory at once.";

const NO_STACKS: &str = "[record] Call ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)`` before \
                         you create the model, and keep the defaults of `stacks` and `context`.\n\n\
                         No stack was recorded for any of this memory.";

const NO_TRACE: &str = "[record] Call ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)`` before \
                        the steps that you want to see.\n\n\
                        The snapshot has no events, so the peak is unknown.";

/// Describes the largest group in a title, with the number of its allocations.
fn named(study: &Study<'_>, group: &StackBytes) -> String {
    let bytes = match group.count {
        1 => format::bytes(group.bytes),
        count => format!("{} in {}", format::bytes(group.bytes), format::counted(count, "allocation")),
    };
    let place = if group.stack.has_frames() { study.title(group.stack) } else { place(study, group) };
    format!("{bytes}, {place}")
}

/// Describes the origin of a group; initial memory may have no stack.
fn place(study: &Study<'_>, group: &StackBytes) -> String {
    match group.stack.has_frames() || group.initial_bytes.saturating_mul(2) < group.bytes {
        true => study.title(group.stack),
        false if study.timeline.events() == 0 => "blocks without a stack".to_owned(),
        false => "what was there before the trace".to_owned(),
    }
}

/// Returns true if most of what was made before the first step is of the program's own lines and gets no gradient.
fn are_buffers(study: &Study<'_>) -> bool {
    let allocations = &study.timeline.allocations;
    let trained = by_design::trained_sizes(study);
    let (mut all, mut own) = (0_u64, 0_u64);
    for (id, size_bytes) in allocations.alive_at(study.timeline.live_peak().0) {
        if phase_of(study, id) == Phase::Setup {
            let stack = row_of(study, id).1;
            all += size_bytes;
            let is_own = !study.sites.of_stack(stack).in_module
                && innermost_is_own(study, stack)
                && !trained.contains_key(&size_bytes);
            own += if is_own { size_bytes } else { 0 };
        }
    }
    own * 2 > all
}

/// Returns true if the innermost frame of Python is of the user's own code, as where it calls `torch.zeros`.
fn innermost_is_own(study: &Study<'_>, stack: StackId) -> bool {
    let trace = study.trace;
    let is_python = |frame: &FrameId| trace.strings.get(trace.frames.get(*frame).filename).ends_with(".py");
    let innermost = trace.stacks.frames(stack).iter().copied().find(is_python);
    innermost.is_some() && innermost == own_frame(trace, stack, false)
}

fn advice(study: &Study<'_>, largest: Category) -> &'static str {
    let is_trained = study.kind == RunKind::Training;
    let ran_out = study.device.events.actions().iter().any(|action| action == Action::Oom);
    match largest {
        // Backward did not come because memory ran out before it.
        Category::Activation if study.kind == RunKind::Forward && ran_out => {
            "For inference, run the model under ``with torch.inference_mode():``.\n\
             For training, use a smaller micro-batch with gradient accumulation, or activation checkpointing \
             (`torch.utils.checkpoint`).\n\n\
             Gradients are enabled, so PyTorch keeps the activations for a backward pass, which memory ran out before."
        }
        Category::Activation if study.kind == RunKind::Forward => {
            "For inference, run the model under ``with torch.inference_mode():``.\n\
             For training, record the backward pass too.\n\n\
             Gradients are enabled, so PyTorch keeps the activations for a backward pass that this trace does not \
             contain."
        }
        Category::Activation | Category::Evaluation | Category::Temporary | Category::Input if !is_trained => {
            "Use smaller batches or shorter sequences.\nLimit the length of a KV cache, or store it in fewer bits."
        }
        Category::Activation => {
            "Use a smaller micro-batch with gradient accumulation.\n\
             Or use activation checkpointing (`torch.utils.checkpoint`).\n\
             Or compute in 16 bits: ``with torch.autocast(\"cuda\", dtype=torch.bfloat16):``."
        }
        Category::Parameter if is_trained && are_buffers(study) => {
            "Keep what is not trained, such as a replay buffer or a data set, in host memory: \
             ``torch.zeros(..., pin_memory=True)``, and move what a step needs.\n\
             Or make it smaller, or store it in fewer bits, such as images as `uint8`.\n\n\
             Most of it are tensors that the program makes itself before the first step, and that get no gradient."
        }
        Category::Parameter => {
            "Store the weights in 16 bits.\n\
             Or shard them across GPUs (FSDP).\n\
             To fine-tune, quantize the weights and train adapters (QLoRA)."
        }
        Category::Gradient => {
            "Train fewer weights: call `requires_grad_(False)` on the others.\n\
             Or store the gradients in 16 bits, or shard them across GPUs (FSDP)."
        }
        Category::OptimizerState => {
            "Use an optimizer with 8-bit state, or one with less state.\n\
             Or shard the state across GPUs (`ZeroRedundancyOptimizer` or FSDP)."
        }
        Category::Temporary => {
            "[show] Find the operations in the stacks, and split them into smaller parts.\n\n\
             This memory is freed again within the same part of a step."
        }
        Category::Evaluation => {
            "Use smaller batches in the evaluation, and keep none of its outputs on the GPU.\n\
             If gradients are on there, switch them off: ``with torch.no_grad():``."
        }
        Category::Input => {
            "Move each batch to the GPU when it is used, and keep no earlier ones.\n\
             If the data set is on the GPU on purpose, store it in fewer bits, such as images as `uint8`."
        }
        Category::Workspace | Category::Collective | Category::Unknown => {
            "[show] Look at the stacks that hold the most memory."
        }
    }
}
