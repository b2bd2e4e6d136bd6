//! What holds the peak.

use super::{Confidence, Evidence, Finding, top_stacks};
use crate::analysis::{Category, PhaseBasis, StackBytes, Study, live_by_category, live_by_stack};
use crate::base::{Severity, format};

/// Categories beyond this many are small.
const MOST_CATEGORIES: usize = 3;

/// What the peak is made of: by category where phases are told, else by place.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (moment, peak_bytes) = study.timeline.live_peak();
    if peak_bytes == 0 {
        return None;
    }
    let allocations = &study.timeline.allocations;
    let groups = live_by_stack(study.device, allocations, moment);
    let largest = groups.first().map_or_else(String::new, |group| {
        format!("{} from {}", format::percent(group.bytes, peak_bytes), place(study, group))
    });
    // A category that the shape of the curve suggests would be a guess.
    let shares = if study.phases.are_told() { live_by_category(study, moment) } else { Vec::new() };
    let parts: Vec<String> = shares
        .iter()
        .filter(|share| share.bytes.saturating_mul(100) >= peak_bytes)
        .take(MOST_CATEGORIES)
        .map(|share| format!("{} {}", share.category.plural(), format::percent(share.bytes, peak_bytes)))
        .collect();
    let made_of = if parts.is_empty() { format!("{largest}, the most from one place") } else { parts.join(", ") };
    Some(Finding {
        code: "peak",
        severity: Severity::Info,
        confidence: if study.phases.basis() == PhaseBasis::Operations { Confidence::Medium } else { Confidence::High },
        device: study.device.index,
        bytes: peak_bytes,
        title: format!("The peak of {} is {made_of}", format::bytes(peak_bytes)),
        evidence: Evidence {
            shows: format!("The most from one place: {largest}."),
            events: moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(groups.iter().map(|group| (group.bytes, group.stack))),
        },
        advice: advice(shares.first().map_or(Category::Unknown, |share| share.category)).to_owned(),
    })
}

/// Where a group is from; what was there before the trace may have no stack.
fn place(study: &Study<'_>, group: &StackBytes) -> String {
    match group.stack.has_frames() || group.initial_bytes.saturating_mul(2) < group.bytes {
        true => study.title(group.stack),
        false => "what was there before the trace".to_owned(),
    }
}

/// What makes the largest part of a peak smaller.
fn advice(largest: Category) -> &'static str {
    match largest {
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
