//! Converts the steps and phases of a device for the bands of the timeline.

use super::ready::Ready;
use frontend::ask::{PartSpan, Parts};
use shared::analysis::{Axis, Phase};

/// Converts the steps and phases of a device; `device` is its position.
pub(super) fn parts(device: u32, ready: Ready<'_>) -> Parts {
    let studied = ready.studied();
    let steps = studied.steps.as_ref();
    Parts {
        device,
        steps_basis: steps.map(|steps| steps.source).unwrap_or_default(),
        steps: steps.iter().flat_map(|steps| &steps.steps).map(|step| part(ready, step.start, step.end)).collect(),
        phases_basis: studied.phases.basis(),
        phases: if are_phases_annotated(ready) { Vec::new() } else { phases(ready, studied.phases.runs()) },
    }
}

/// Returns true if annotations distinguish forward from backward, so that inferred phases are not needed.
pub(super) fn are_phases_annotated(ready: Ready<'_>) -> bool {
    let is_named = |words: [&str; 2]| {
        let mut names = ready.spans().iter().map(|span| ready.trace.strings.get(span.name).to_ascii_lowercase());
        names.any(|name| words.iter().any(|word| name.contains(word)))
    };
    is_named(["forward", "fwd"]) && is_named(["backward", "bwd"])
}

fn phases(ready: Ready<'_>, runs: &[(u32, Phase)]) -> Vec<(Phase, PartSpan)> {
    let starts = std::iter::once(0).chain(runs.iter().map(|&(end, _)| end));
    let runs = starts.zip(runs).map(|(start, &(end, phase))| (phase, start, end));
    let known = runs.filter(|&(phase, start, end)| phase != Phase::Unknown && start < end);
    known.map(|(phase, start, end)| (phase, part(ready, start, end))).collect()
}

/// Converts the events after the moment `start` up to `end`; the first one begins the moment after `start`.
fn part(ready: Ready<'_>, start: u32, end: u32) -> PartSpan {
    let Ready { device, timeline, .. } = ready;
    let begin_us = |moment: u32| match timeline.has_times() {
        true => timeline.x_of_moment(device, Axis::Time, moment.saturating_add(1)) as u64,
        false => 0,
    };
    PartSpan { start_moment: start, end_moment: end, start_us: begin_us(start), end_us: begin_us(end) }
}
