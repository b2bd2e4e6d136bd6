//! Finds evaluations that record an autograd graph although no backward follows.

use super::advice::Advice;
use super::code::FindingCode;
use super::collecting::evaluations;
use super::evidence::{Evidence, top_stacks};
use super::finding::{Confidence, Finding, Rank, title_of_parts};
use super::own_code::{Own, OwnCode};
use crate::analysis::study::phases::PhaseBasis;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::together::{Lifetime, most_together};
use crate::base::{Severity, format};
use crate::trace::StackId;
use hashbrown::HashSet;
use std::ops::Range;

/// At least 1/2 of an evaluation's stacks must be alive together, to infer that gradients are on.
const LEAST_KEPT: usize = 2;

/// Fewer stacks are not enough to infer that gradients are on.
const LEAST_STACKS: usize = 4;

/// Less than 1/10 of the peak is not reported, because it does no harm.
const LEAST_SHARE: u64 = 10;

/// Reports the evaluation that holds the most bytes.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    if study.steps.is_none() || study.phases.basis() != PhaseBasis::Functions {
        return None;
    }
    let found = evaluations(study).into_iter().filter_map(|range| held(study, range));
    let (bytes, moment, rows) = found.max_by_key(|found| found.0)?;
    if bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let own = OwnCode::of(study, rows.iter().copied(), Own::Call);
    let from = own.as_ref().map_or_else(String::new, |own| format!(", in {}", own.place()));
    Some(Finding {
        code: FindingCode::EvaluationWithGraph,
        severity: Severity::Warning,
        confidence: Confidence::Medium,
        rank: Rank::Cause,
        device: study.device.index,
        bytes,
        title: title_of_parts(
            &format!("The evaluation keeps {} for a backward pass that never runs", format::bytes(bytes)),
            [from],
        ),
        line: own.map(|own| own.line),
        evidence: Evidence {
            shows: format!(
                "After event {}, at least half of the stacks in the evaluation's forward pass have live tensors at the \
                 same time, and no backward pass follows.",
                format::count(u64::from(moment).saturating_sub(1))
            ),
            events: moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(rows.into_iter()),
        },
        advice: Advice::of(
            "Run the evaluation under ``with torch.no_grad():`` or `torch.inference_mode()`.\n\n\
             `model.eval()` alone does not disable gradients, so the evaluation records an autograd graph that holds \
             the activations.",
        ),
    })
}

/// Bytes, the moment at which they are alive, and the bytes and stack of each allocation.
type Held = (u64, u32, Vec<(u64, StackId)>);

/// Returns the most bytes that modules have alive at once within an evaluation, with moment and rows.
///
/// The result is `None` unless they come from at least 1/2 of the stacks.
fn held(study: &Study<'_>, range: Range<u32>) -> Option<Held> {
    let allocations = &study.timeline.allocations;
    let rows: Vec<Lifetime> = (allocations.born_by(range.start)..allocations.born_by(range.end))
        .map(|row| Lifetime::of(allocations, study.device, AllocationId(row)))
        .filter(|row| {
            let site = study.sites.of_stack(row.stack);
            site.in_module && !site.is_without_grad
        })
        .collect();
    let (moment, bytes) = most_together(&rows, u32::MAX);
    let alive: Vec<(u64, StackId)> =
        rows.iter().filter(|row| row.is_alive_at(moment)).map(|row| (row.bytes, row.stack)).collect();
    let stacks: HashSet<StackId> = rows.iter().map(|row| row.stack).collect();
    let held: HashSet<StackId> = alive.iter().map(|row| row.1).collect();
    (stacks.len() >= LEAST_STACKS && held.len() * LEAST_KEPT >= stacks.len()).then_some((bytes, moment, alive))
}
