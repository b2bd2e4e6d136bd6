//! Reports a recording that is too short to judge, with the line of code that records enough.

use super::code::FindingCode;
use super::evidence::Evidence;
use super::finding::{Confidence, Finding, Rank};
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};
use crate::trace::{Action, Device, Trace};

/// A full ring buffer holds `max_entries` events, which is usually set to a round number.
const ROUND: usize = 1000;

/// Fewer steps do not show growth.
const LEAST_STEPS: usize = 3;

/// Call that records from the start, with room for all events.
const RECORD: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)";

/// Reports why a device cannot be judged.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (title, advice) = words(study)?;
    Some(note(study.device.index, study.timeline.live_peak().1, title, advice))
}

/// Returns the finding for a snapshot without any memory in use.
pub(super) fn of_nothing(trace: &Trace) -> Finding {
    let device = trace.devices.first().map_or(0, |device| device.index);
    let title = "Not enough recorded to judge: the snapshot has no events and no memory in use".to_owned();
    let advice = format!(
        "In the process that trains, call `{RECORD}` before you create the model. Run a few steps, and then call \
         `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")`. This snapshot was taken before CUDA was used, or in \
         another process."
    );
    note(device, 0, title, advice)
}

fn note(device: i64, bytes: u64, title: String, advice: String) -> Finding {
    Finding {
        code: FindingCode::TooLittleRecorded,
        severity: Severity::Info,
        confidence: Confidence::High,
        rank: Rank::Recording,
        device,
        bytes,
        title,
        line: None,
        evidence: Evidence {
            shows: "The events and stacks in the file were counted.".to_owned(),
            ..Evidence::default()
        },
        advice,
    }
}

/// Returns what is missing, as a title, and advice.
fn words(study: &Study<'_>) -> Option<(String, String)> {
    let device = study.device;
    let events = device.events.len();
    if study.kind == RunKind::NoTrace {
        let what = if events == 0 { "no events".to_owned() } else { "no allocation events".to_owned() };
        return Some((
            format!(
                "Not enough recorded to judge: the snapshot has {what}, only the {} that was live when it was taken",
                format::bytes(study.timeline.live_at(study.timeline.events()))
            ),
            format!(
                "Call `{RECORD}` before you create the model. Run the steps that you want to see, and then call \
                 `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")`."
            ),
        ));
    }
    let is_ring_full = events.is_multiple_of(ROUND) && study.timeline.live_at(0) > 0 && device.part.is_none();
    if is_ring_full {
        return Some((
            format!(
                "Only the last {} events were recorded: the ring buffer was full, and all earlier events are lost",
                format::count(events as u64)
            ),
            format!("Raise `max_entries`: call `{RECORD}`. Or record fewer steps."),
        ));
    }
    if !has_frames(device) {
        return Some((
            "No stacks were recorded, so no line of code can be named".to_owned(),
            format!("Call `{RECORD}`, and keep the defaults of `stacks` and `context` (`\"all\"`)."),
        ));
    }
    // A run that ended out of memory is explained by that.
    if device.events.actions().iter().any(|action| action == Action::Oom) {
        return None;
    }
    if study.kind == RunKind::Training {
        let steps = study.steps.as_ref().map_or(1, |steps| steps.steps.len());
        return (steps < LEAST_STEPS).then(|| {
            (
                match steps {
                    1 => {
                        "Only one training step, or part of one, was recorded: too little to judge whether memory grows"
                            .to_owned()
                    }
                    _ => "Only two training steps were recorded: too few to judge whether memory grows".to_owned(),
                },
                format!(
                    "Record at least five steps, including the first: call `{RECORD}` before the loop and \
                     `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")` after it."
                ),
            )
        });
    }
    let is_short = study.repeats().is_empty() && study.kind != RunKind::Generation;
    is_short.then(|| {
        (
            format!("The trace shows {}, and nothing in it repeats, so growth can't be judged", study.kind.words()),
            format!("Record several steps or calls to see whether memory grows: call `{RECORD}` before the loop."),
        )
    })
}

/// Returns true if any allocating event has a stack.
fn has_frames(device: &Device) -> bool {
    let (actions, stacks) = (device.events.actions(), device.events.stacks());
    (0..device.events.len()).any(|event| actions.at(event) == Action::Alloc && stacks.at(event).has_frames())
}
