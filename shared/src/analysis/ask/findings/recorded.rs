//! Reports a recording that is too short to judge, with the line of code that records enough.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};
use crate::trace::{Action, Trace};

/// A full ring buffer holds `max_entries` events, which is usually set to a round number.
const ROUND: usize = 1000;

/// Fewer steps do not show growth.
const LEAST_STEPS: usize = 3;

/// Call that records from the start, with room for all events.
const RECORD: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)";

/// Call that writes what was recorded.
const DUMP: &str = "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (title, advice) = words(study)?;
    Some(note(study.device.index, study.timeline.live_peak().1, &title, &advice))
}

/// Returns the finding for a snapshot without any memory in use.
pub(super) fn of_nothing(trace: &Trace) -> Finding {
    let device = trace.devices.first().map_or(0, |device| device.index);
    let title = "Not enough recorded to judge: no events, and no memory in use";
    let advice = format!(
        "[record] In the process that trains, call ``{RECORD}`` before you create the model.\n\
         Run a few steps, and then call ``{DUMP}``.\n\n\
         This snapshot was taken before CUDA was used, or in another process."
    );
    note(device, 0, title, &advice)
}

fn note(device: i64, bytes: u64, title: &str, advice: &str) -> Finding {
    let code = FindingCode::TooLittleRecorded;
    let shows = "The events and stacks in the file were counted.".to_owned();
    let found = Finding::new(device, code, Severity::Info, Confidence::High, Rank::Recording, bytes);
    found.titled(title, []).shown(shows, [], []).advised(advice)
}

fn words(study: &Study<'_>) -> Option<(String, String)> {
    let device = study.device;
    let events = device.events.len();
    if study.kind == RunKind::NoTrace {
        let what = if events == 0 { "no events".to_owned() } else { "no allocation events".to_owned() };
        return Some((
            format!(
                "Not enough recorded to judge: {what}, {} live at the end",
                format::bytes(study.timeline.live_at(study.timeline.events()))
            ),
            format!(
                "[record] Call ``{RECORD}`` before you create the model.\n\
                 Run the steps that you want to see, and then call ``{DUMP}``."
            ),
        ));
    }
    let is_ring_full = events.is_multiple_of(ROUND) && study.timeline.live_at(0) > 0 && device.part.is_none();
    if is_ring_full {
        return Some((
            format!("Only the last {} events were kept: the ring buffer was full", format::count(events as u64)),
            format!(
                "[record] Raise `max_entries`: call ``{RECORD}``.\nOr record fewer steps.\n\n\
                 A full ring buffer drops the earliest events."
            ),
        ));
    }
    let (actions, stacks) = (device.events.actions(), device.events.stacks());
    if !(0..events).any(|event| actions.at(event) == Action::Alloc && stacks.at(event).has_frames()) {
        return Some((
            "No stacks were recorded, so no line of code can be named".to_owned(),
            format!("[record] Call ``{RECORD}``, and keep the defaults of `stacks` and `context` (`\"all\"`)."),
        ));
    }
    // A run that ended out of memory is explained by that.
    if actions.iter().any(|action| action == Action::Oom) {
        return None;
    }
    if study.kind == RunKind::Training {
        let steps = study.steps.as_ref().map_or(1, |steps| steps.steps.len());
        return (steps < LEAST_STEPS).then(|| {
            (
                match steps {
                    1 => "Only one training step, or part of one, was recorded: too little to judge growth".to_owned(),
                    _ => "Only two training steps were recorded: too few to judge growth".to_owned(),
                },
                format!(
                    "[record] Record at least five steps, including the first: call ``{RECORD}`` before the loop.\n\
                     Call ``{DUMP}`` after it."
                ),
            )
        });
    }
    let is_short = study.repeats().is_empty() && study.kind != RunKind::Generation;
    is_short.then(|| {
        (
            "Growth can't be judged: nothing in the trace repeats".to_owned(),
            format!(
                "[record] Record several steps or calls to see whether memory grows: call ``{RECORD}`` before the \
                 loop.\n\n\
                 The trace shows {}.",
                study.kind.words()
            ),
        )
    })
}
