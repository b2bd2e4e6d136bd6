//! Finds forward passes that record an autograd graph although no backward follows: evaluations, samplers, teachers.

use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Finding, Rank};
use super::own_code::{common_line, line_of_part};
use crate::analysis::study::phases::{Phase, PhaseBasis};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{Lifetime, most_together};
use crate::base::{Severity, format};

/// Less than 1/10 of the peak is not reported, because it does no harm.
const LEAST_SHARE: u64 = 10;

/// From this number on, calls whose graphs are alive at once are those of an evaluation.
const MANY_CALLS: usize = 4;

/// Reports the most bytes of such passes that are alive at once, given what no backward uses of each call.
pub(super) fn finding(study: &Study<'_>, calls: &[Vec<Lifetime>]) -> Option<Finding> {
    if study.steps.is_none() || study.phases.basis() != PhaseBasis::Functions {
        return None;
    }
    let unused = calls.concat();
    let (moment, bytes) = most_together(&unused, u32::MAX);
    if bytes == 0 || bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let alive = || unused.iter().filter(|row| row.is_alive_at(moment)).map(|row| (row.bytes, row.stack));
    // A second pass beside the one that is trained may be meant, such as one whose loss is only logged; many are not.
    let together = calls.iter().filter(|call| call.iter().any(|row| row.is_alive_at(moment))).count();
    let backward = study.phases.start_of_backward(study.phases.run_of(moment)).unwrap_or(u32::MAX);
    let is_beside = |row: &&Lifetime| row.is_alive_at(moment) && row.died > backward;
    let beside_bytes: u64 = unused.iter().filter(is_beside).map(|row| row.bytes).sum();
    let is_evaluation = study.phases.at(moment) == Phase::Evaluation;
    // Where the program itself computes most of it, the loop around it is what to change.
    let in_modules = alive().filter(|&(_, stack)| study.sites.of_stack(stack).in_module);
    let of_modules: u64 = in_modules.map(|(bytes, _)| bytes).sum();
    let line = match of_modules * 2 < bytes {
        true => common_line(study, alive().map(|(_, stack)| stack)),
        false => line_of_part(study, alive()),
    };
    let spans: Vec<_> = unused.iter().map(|row| (row.born..row.died, row.bytes)).collect();
    let (what, advice) = if is_evaluation {
        (
            format!("The evaluation keeps {} for a backward pass that never runs", format::bytes(bytes)),
            "Run the evaluation under ``with torch.no_grad():`` or `torch.inference_mode()`.\n\n\
             `model.eval()` alone does not disable gradients, so the evaluation records an autograd graph that holds \
             the activations.",
        )
    } else {
        (
            format!("{} of graphs that no backward uses", format::bytes(bytes)),
            "Run these calls under ``with torch.no_grad():``, or decorate the function with `@torch.no_grad()`.\n\n\
             Gradients are enabled, so the calls record an autograd graph that holds all activations until the result is \
             freed. `result.detach()` comes too late for that.",
        )
    };
    let shows = format!(
        "After event {}, activations of whole passes are live, and no backward pass uses them.",
        format::count(u64::from(moment).saturating_sub(1))
    );
    let is_meant = beside_bytes * 2 > bytes && together < MANY_CALLS;
    let severity = if is_meant { Severity::Info } else { Severity::Warning };
    let found = Finding::warning(study, FindingCode::EvaluationWithGraph, Confidence::Medium, Rank::Cause, bytes)
        .placed(&what, ", in ", line)
        .shown(shows, moment.checked_sub(1), alive())
        .advised(advice);
    Some(Finding { severity, at_peak: AtPeak::without(study, &spans), ..found })
}
