//! Steps and phases of a device, for the timeline's bands.

use super::Ready;
use crate::worker::{Part, Parts, PhaseName, PhasesBasis, StepsBasis};
use shared::analysis::{Axis, Phase, PhaseBasis, StepSource};

/// The steps and phases of a device at this position.
pub(super) fn parts(device: u32, ready: Ready<'_>) -> Parts {
    let studied = ready.studied();
    let steps = studied.steps.as_ref();
    Parts {
        device,
        steps_basis: match steps.map(|steps| steps.source) {
            Some(StepSource::Annotations) | None => StepsBasis::Annotations,
            Some(StepSource::Optimizer) => StepsBasis::Optimizer,
            Some(StepSource::Period) => StepsBasis::Repetition,
        },
        steps: steps.iter().flat_map(|steps| &steps.steps).map(|step| part(ready, step.start, step.end)).collect(),
        phases_basis: basis(studied.phases.basis()),
        phases: if are_phases_annotated(ready) { Vec::new() } else { phases(ready, studied.phases.runs()) },
    }
}

/// What phases were told by, as it travels.
pub(super) fn basis(basis: PhaseBasis) -> PhasesBasis {
    match basis {
        PhaseBasis::Functions => PhasesBasis::Functions,
        PhaseBasis::Operations => PhasesBasis::Operations,
        PhaseBasis::Curve => PhasesBasis::Curve,
    }
}

/// Whether annotations tell forward from backward: nobody needs to be told twice.
pub(super) fn are_phases_annotated(ready: Ready<'_>) -> bool {
    let is_named = |words: [&str; 2]| {
        let mut names = ready.spans().iter().map(|span| ready.trace.strings.get(span.name).to_ascii_lowercase());
        names.any(|name| words.iter().any(|word| name.contains(word)))
    };
    is_named(["forward", "fwd"]) && is_named(["backward", "bwd"])
}

fn phases(ready: Ready<'_>, runs: &[(u32, Phase)]) -> Vec<(PhaseName, Part)> {
    let starts = std::iter::once(0).chain(runs.iter().map(|&(end, _)| end));
    let known = starts.zip(runs).filter_map(|(start, &(end, phase))| Some((name(phase)?, start, end)));
    known.filter(|&(_, start, end)| start < end).map(|(name, start, end)| (name, part(ready, start, end))).collect()
}

fn name(phase: Phase) -> Option<PhaseName> {
    Some(match phase {
        Phase::Setup => PhaseName::Setup,
        Phase::Data => PhaseName::Data,
        Phase::Forward => PhaseName::Forward,
        Phase::Backward => PhaseName::Backward,
        Phase::Recompute => PhaseName::Recompute,
        Phase::Optimizer => PhaseName::Optimizer,
        Phase::Evaluation => PhaseName::Evaluation,
        Phase::Collective => PhaseName::Collective,
        Phase::Unknown => return None,
    })
}

/// The events after `start` up to the moment `end`: the first of them begins the moment after `start`.
fn part(ready: Ready<'_>, start: u32, end: u32) -> Part {
    let Ready { device, timeline, .. } = ready;
    let begin_us = |moment: u32| match timeline.has_times() {
        true => timeline.x_of_moment(device, Axis::Time, moment.saturating_add(1)) as u64,
        false => 0,
    };
    Part { start_moment: start, end_moment: end, start_us: begin_us(start), end_us: begin_us(end) }
}
