//! Finds graphs that the backward passes of one step keep, so that they add up until the step ends.
//!
//! ```text
//! window 1       window 2           window 3
//! forward back   forward back       forward back       update
//! a───────────────────────────────────────────────────────        kept: the backward of window 1 has passed it
//! ```

use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Finding, Rank};
use super::own_code::{Own, own_line, phase_of};
use crate::analysis::study::by_design;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime};
use crate::base::format;

/// With two, the second may be that of another network, or of a penalty on gradients.
const LEAST_BACKWARDS: usize = 3;

/// Less than 1/10 of the peak is not reported.
const LEAST_SHARE: u64 = 10;

/// Reports the middle step.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let steps = study.repeats();
    let Retained { count, last, saved_bytes, of_backward, graphs } = Retained::of(study, *steps.get(steps.len() / 2)?)?;
    let kept = || graphs.iter().map(|(row, _)| (row.bytes, row.stack));
    let kept_bytes: u64 = kept().map(|row| row.0).sum();
    // Gradients that can be differentiated again keep tensors of backward as well, on purpose.
    let setup = study.timeline.allocations.alive_at(last).filter(|&(id, _)| phase_of(study, id) == Phase::Setup);
    let weights: u64 = setup.map(|row| row.1).sum();
    let gradients: u64 = by_design::trained_sizes(study).iter().map(|(size, count)| size * count).sum();
    // Those of an inner loop count as gradients, too, but there is no more than one for each weight.
    let gradients = if weights > 0 { gradients.min(weights) } else { gradients };
    let is_little = kept_bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1;
    // One pass with several losses has a backward for each, and all but the last keep its graph on purpose.
    let mut passes: Vec<u32> = graphs.iter().map(|(_, passed)| *passed).collect();
    passes.dedup();
    let are_windows = passes.len() + 1 >= LEAST_BACKWARDS;
    if is_little || !are_windows || kept_bytes * 2 < saved_bytes || of_backward > gradients * 2 {
        return None;
    }
    let all = steps.iter().filter_map(|step| Retained::of(study, *step)).flat_map(|kept| kept.graphs);
    let spans: Vec<_> = all.map(|(row, passed)| (passed..row.died, row.bytes)).collect();
    let bytes = format::bytes(kept_bytes);
    let shows = format!(
        "When the last backward pass of a step begins, {bytes} is still alive that earlier ones of the step have passed."
    );
    let found = Finding::warning(study, FindingCode::StateChained, Confidence::Medium, Rank::Cause, kept_bytes)
        .placed(&format!("The {count} graphs of a step add up: {bytes}"), ", in ", own_line(study, kept(), Own::Call))
        .shown(shows, last.checked_sub(1), kept())
        .advised(
            "If one pass hands a tensor to the next, detach it: ``hidden = hidden.detach()``, and remove \
             `retain_graph=True`, with which a backward pass frees nothing.\n\
             If the passes stand beside each other, such as tasks, call ``(loss / n).backward()`` for each one before the \
             next begins: the gradients add up.\n\n\
             The last backward pass of the step goes through the graphs of all of them.",
        );
    Some(Finding { at_peak: AtPeak::without(study, &spans), ..found })
}

/// Returns true if in at least half of the steps graphs add up; elsewhere something else was differentiated.
pub(super) fn is_usual(study: &Study<'_>) -> bool {
    let steps = study.repeats();
    let adds_up = |step: &&Step| {
        let kept = |retained: &Retained| retained.graphs.iter().map(|(row, _)| row.bytes).sum::<u64>();
        Retained::of(study, **step).is_some_and(|retained| kept(&retained) * 2 >= retained.saved_bytes)
    };
    steps.iter().filter(adds_up).count() * 2 >= steps.len()
}

/// What the backward passes of a step leave alive for the last one.
struct Retained {
    /// Number of backward passes, and the moment at which the last one begins.
    count: usize,
    last: u32,
    /// Bytes of forward passes that waited for their own backward, but for the last.
    saved_bytes: u64,
    of_backward: u64,
    /// What is alive of forward passes, each with the end of its own backward.
    graphs: Vec<(Lifetime, u32)>,
}

impl Retained {
    fn of(study: &Study<'_>, step: Step) -> Option<Self> {
        let starts = starts_of_backward(study, step);
        let &[.., before_last, last] = starts.as_slice() else { return None };
        if starts.len() < LEAST_BACKWARDS {
            return None;
        }
        let allocations = &study.timeline.allocations;
        let (mut saved_bytes, mut of_backward, mut graphs) = (0, 0, Vec::new());
        for row in allocations.born_by(step.start)..allocations.born_by(before_last) {
            let row = Lifetime::of(allocations, study.device, AllocationId(row));
            let own_start = starts[starts.partition_point(|&start| start < row.born)];
            match study.phases.of_birth(row.born, row.stack) {
                Phase::Forward if row.died > own_start => {
                    saved_bytes += row.bytes;
                    let is_kept = row.is_alive_at(last);
                    graphs.extend(is_kept.then(|| (row, study.phases.end_of_backward(own_start).min(row.died))));
                }
                Phase::Backward if row.is_alive_at(last) => of_backward += row.bytes,
                _ => {}
            }
        }
        Some(Self { count: starts.len(), last, saved_bytes, of_backward, graphs })
    }
}

pub(super) fn starts_of_backward(study: &Study<'_>, step: Step) -> Vec<u32> {
    let phases = &study.phases;
    let next = |after: u32| phases.start_of_backward(phases.run_of(after + 1)).filter(|&start| start < step.end);
    std::iter::successors(next(step.start), |&start| next(phases.end_of_backward(start))).collect()
}
