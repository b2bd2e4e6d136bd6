//! Reports what the peak consists of.

use super::{Confidence, Evidence, Finding, Rank, top_stacks};
use crate::analysis::study::category_bytes::live_by_category;
use crate::analysis::study::phases::PhaseBasis;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::analysis::track::peak::{StackBytes, live_by_stack};
use crate::base::{Severity, format};

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
        format!("{} is from {}", format::percent(group.bytes, peak_bytes), place(study, group))
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
    let title = match (has_trace, parts.is_empty()) {
        (true, false) => format!("The peak of {bytes} is {}", parts.join(", ")),
        (true, true) => format!("Of the peak of {bytes}, {largest}, the most from one place"),
        (false, _) => format!("Of the {bytes} that were live at the snapshot, {largest}, the most from one place"),
    };
    let count = format::counted(groups.iter().map(|group| group.count).sum(), "allocation");
    let mut shows = match groups.iter().filter(|group| group.stack.has_frames()).count() as u64 {
        0 => format!("Live there: {count} without a stack"),
        stacks => format!("Live there: {count}, of {}", format::counted(stacks, "stack")),
    };
    shows += &if parts.is_empty() { ".".to_owned() } else { format!("; {largest}, the most from one place.") };
    let stacks = top_stacks(groups.iter().map(|group| (group.bytes, group.stack)));
    let advice = match (stacks.is_empty(), has_trace) {
        (true, _) => NO_STACKS,
        (false, false) => NO_TRACE,
        (false, true) => advice(study.kind, shares.first().map_or(Category::Unknown, |share| share.category)),
    };
    Some(Finding {
        code: "peak",
        severity: Severity::Info,
        confidence: if study.phases.basis() == PhaseBasis::Operations { Confidence::Medium } else { Confidence::High },
        rank: Rank::Peak,
        device: study.device.index,
        bytes: peak_bytes,
        title,
        line: None,
        evidence: Evidence { shows, events: moment.checked_sub(1).into_iter().collect(), stacks },
        advice: advice.to_owned(),
    })
}

/// Advice if no stack shows who allocated the live bytes.
const NO_STACKS: &str = "No stack was recorded for any of it: call `torch.cuda.memory._record_memory_history()` before the \
                         model is made, and leave its `stacks` and `context` as they are.";

/// Advice if only the final state is known.
const NO_TRACE: &str = "The snapshot has no events, so that the peak is not known: call \
                        `torch.cuda.memory._record_memory_history()` before the steps to look at.";

/// Describes the origin of a group; initial memory may have no stack.
fn place(study: &Study<'_>, group: &StackBytes) -> String {
    match group.stack.has_frames() || group.initial_bytes.saturating_mul(2) < group.bytes {
        true => study.title(group.stack),
        false if study.timeline.events() == 0 => "blocks without a stack".to_owned(),
        false => "what was there before the trace".to_owned(),
    }
}

/// Returns advice on how to shrink the largest part of a peak.
fn advice(kind: RunKind, largest: Category) -> &'static str {
    let is_trained = kind == RunKind::Training;
    match largest {
        Category::Activation if kind == RunKind::Forward => {
            "Gradients are on, so that activations are kept for a backward that does not come in this trace. For \
             inference run the model under `torch.inference_mode()`; for training record the backward too."
        }
        Category::Activation | Category::Evaluation | Category::Temporary | Category::Input if !is_trained => {
            "Smaller batches or shorter sequences make it smaller; a cache of keys and values can be bounded, or kept in \
             fewer bits."
        }
        Category::Activation => {
            "A smaller micro-batch with gradient accumulation, activation checkpointing, or autocast makes it smaller."
        }
        Category::Parameter => {
            "Weights in 16 bits, weights shared out over devices, or adapters such as LoRA make it smaller."
        }
        Category::Gradient => {
            "Gradients in 16 bits or shared out over devices, or fewer weights that are trained, make it smaller."
        }
        Category::OptimizerState => {
            "State in 8 bits, state shared out over devices, or an optimizer with less state makes it smaller."
        }
        Category::Temporary => {
            "Most of it is there for an operation or two: see which ones, and whether they can go in parts."
        }
        Category::Evaluation => "It is the evaluation: run it under `torch.no_grad()`, and with smaller batches.",
        Category::Input | Category::Workspace | Category::Collective | Category::Unknown => {
            "See the stacks that hold the most."
        }
    }
}
