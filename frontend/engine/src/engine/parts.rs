//! Converts the steps, phases, annotated spans and single marks of a device for the bands of the timeline.

use super::ready::Ready;
use frontend::ask::{Mark, MarkKind, Marks, PartSpan, Parts, Span};
use shared::analysis;
use shared::analysis::{Axis, Phase, Steps};
use shared::base::ShortSort;
use shared::trace::{Action, EventTable};

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
fn are_phases_annotated(ready: Ready<'_>) -> bool {
    let is_named = |words: [&str; 2]| {
        let mut names = ready.spans().iter().map(|span| ready.trace.strings.get(span.name).to_ascii_lowercase());
        names.any(|name| words.iter().any(|word| name.contains(word)))
    };
    is_named(["forward", "fwd"]) && is_named(["backward", "bwd"])
}

fn phases(ready: Ready<'_>, runs: &[(u32, Phase)]) -> Vec<(Phase, PartSpan)> {
    let starts = std::iter::once(0).chain(runs.iter().map(|&(end, _)| end));
    let runs = starts.zip(runs).map(|(start, &(end, phase))| (phase, start, end));
    let (error, last) = (final_error(&ready.device.events), ready.timeline.events());
    let until = error.unwrap_or(last);
    let runs = runs.map(|(phase, start, end)| (phase, start, end.min(until)));
    let known = runs.filter(|&(phase, start, end)| phase != Phase::Unknown && start < end);
    // While the exception is raised, the stacks of the frees are those of the phase before.
    let after = error.filter(|&error| error < last).map(|error| (Phase::Unknown, error, last));
    known.chain(after).map(|(phase, start, end)| (phase, part(ready, start, end))).collect()
}

/// Most allocations after an error that ended the run.
const MOST_AFTER_ERROR: usize = 16;

/// Returns the moment of the out-of-memory error that ended the run, if there is one.
fn final_error(events: &EventTable) -> Option<u32> {
    let mut allocs = 0;
    for event in (0..events.len()).rev() {
        match events.actions().at(event) {
            Action::Oom => return Some(event as u32 + 1),
            Action::Alloc => allocs += 1,
            _ => (),
        }
        if allocs > MOST_AFTER_ERROR {
            return None;
        }
    }
    None
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

pub(super) fn marks(ready: Ready<'_>) -> Marks {
    // Steps and phases are inferred only for GPUs, and only if the trace allocates something.
    let is_studied =
        ready.device.index >= 0 && ready.device.events.actions().iter().any(|action| action == Action::Alloc);
    let span = |&analysis::Span { name, start_us, end_us, start_moment, end_moment, depth }: &_| {
        let name = ready.trace.strings.get(name).to_owned();
        Span { name, start_moment, end_moment, start_us, end_us, depth }
    };
    Marks {
        spans: ready.spans().iter().map(span).collect(),
        marks: single_marks(ready),
        awaits_steps: is_studied && Steps::annotated(ready.trace, ready.spans()).is_none(),
        awaits_phases: is_studied && !are_phases_annotated(ready),
    }
}

/// Returns the names of the spans around an allocation that is born at a moment, outermost first.
pub(super) fn spans_at(ready: Ready<'_>, moment: u32) -> Vec<String> {
    let is_around = |span: &&analysis::Span| span.start_moment < moment && moment <= span.end_moment;
    let mut around: Vec<_> = ready.spans().iter().filter(is_around).collect();
    around.short_sort_by_key(|span| span.depth);
    around.iter().map(|span| ready.trace.strings.get(span.name).to_owned()).collect()
}

fn single_marks(ready: Ready<'_>) -> Vec<Mark> {
    let events = &ready.device.events;
    let kind = |action| match action {
        Action::Oom => Some(MarkKind::Oom),
        Action::Snapshot => Some(MarkKind::Snapshot),
        _ => None,
    };
    let found = events.actions().iter().enumerate().filter_map(|(event, action)| Some((event, kind(action)?)));
    let mark = |(event, kind): (usize, MarkKind)| {
        let moment = event as u32 + 1;
        let free_bytes = (kind == MarkKind::Oom).then(|| events.addrs().at(event));
        Mark { kind, moment, time_us: ready.time_us(moment), size_bytes: events.sizes_bytes().at(event), free_bytes }
    };
    found.map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::text;

    #[track_caller]
    fn check(lines: &str, moment: Option<u32>) {
        assert_eq!(final_error(&text::parse(lines).unwrap().devices[0].events), moment);
    }

    #[test]
    fn an_error_is_final_if_the_run_goes_not_on() {
        check("alloc a 1KiB\noom 4GiB free=1MiB\nfree a\n", Some(2));
        check("alloc a 1KiB\nfree a\n", None);
        let more: String = (0..40).map(|number| format!("alloc n{number} 1KiB\n")).collect();
        check(&format!("alloc a 1KiB\noom 4GiB free=1MiB\n{more}"), None);
    }
}
