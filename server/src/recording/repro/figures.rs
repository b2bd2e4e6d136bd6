//! Reads the figures of a recording's snapshot in a process with limits, so that this process parses none of its bytes,
//! and holds the results of a recording.

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::analysis::{Study, Timeline, live_by_category, spans};
use shared::api::{Finished, FixShare, OutOfMemory, RecordingCurve, RecordingReport, Started, StepStart};
use shared::base::format::bytes;
use shared::trace::{Action, Device, Trace};

use super::Limits;
use crate::config::RecorderConfig;
use crate::decoding::{self, Allowance, DecodeError};
use crate::{Failure, snapshot_file};

/// Hidden subcommand that the process runs.
const FIGURES_COMMAND: &str = "figures";

/// Minimum limits of the process: enough for a million events on a busy machine.
const LEAST: Allowance = Allowance { memory_bytes: 1 << 30, seconds: 60 };

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// Number of events on all devices.
    pub(super) events: u64,
    /// Peak of requested live bytes, on the device where it is highest.
    pub(super) peak_live_bytes: u64,
    /// Memory over the events of that device.
    pub(super) curve: RecordingCurve,
    /// What is alive at its peak, by category, the largest first.
    pub(super) at_peak: Vec<FixShare>,
}

/// The reason why the figures of a snapshot are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) failure: Failure,
    /// True if the file may still be a snapshot that can be read elsewhere.
    pub(super) is_perhaps_one: bool,
}

impl Figures {
    /// Reads a snapshot in a process that has at least the memory and time of the recording.
    pub(super) fn read(config: &RecorderConfig, limits: &Limits, snapshot: &Path) -> Result<Self, Unread> {
        let allowance = Allowance {
            memory_bytes: limits.memory_bytes.max(LEAST.memory_bytes),
            seconds: limits.time.as_secs().max(LEAST.seconds),
        };
        let mut command = decoding::command(&config.reader, FIGURES_COMMAND, snapshot);
        command.arg(allowance.memory_bytes.to_string()).arg(allowance.seconds.to_string());
        // The limit on processor time usually applies earlier, unless the machine is busy.
        let figures = decoding::run(command, Duration::from_secs(2 * allowance.seconds));
        figures.map_err(|error| unread(&error, config, allowance))
    }
}

fn unread(error: &DecodeError, config: &RecorderConfig, allowance: Allowance) -> Unread {
    let failure = match error {
        DecodeError::NotASnapshot(message) => Failure::new(
            message,
            "check that the disk is not full and that the recorder was built with this program, then record again",
        ),
        DecodeError::TooMuch => Failure::new(
            format!(
                "the recording is too large: reading it takes more than {} of memory or {} s",
                bytes(allowance.memory_bytes),
                allowance.seconds
            ),
            "record fewer steps, or raise the limits on memory and time",
        ),
        DecodeError::Failed(message) => Failure::new(
            format!("the recording cannot be read by {}: {message}", config.reader.display()),
            "check that this program was not moved since it was started",
        ),
    };
    Unread { failure, is_perhaps_one: !matches!(error, DecodeError::NotASnapshot(_)) }
}

/// Runs in the process: applies the limits, reads the file and returns the figures as JSON.
pub fn print_figures(file: &Path, allowance: Allowance) -> Result<String, Failure> {
    allowance.hold(file);
    let trace = snapshot_file::import(file, "the recorder's snapshot")?;
    let timelines = trace.devices.iter().map(|device| (device, Timeline::new(&trace, device)));
    // Of equal devices the first is chosen.
    let highest = timelines.max_by_key(|(device, timeline)| (timeline.live_peak().1, Reverse(device.index)));
    let (peak_live_bytes, curve, at_peak) = highest
        .map(|(device, timeline)| {
            (timeline.live_peak().1, curve(&trace, device, &timeline), at_peak(&trace, device, &timeline))
        })
        .unwrap_or_default();
    let events = trace.devices.iter().map(|device| device.events.len() as u64).sum();
    Ok(serde_json::to_string(&Figures { events, peak_live_bytes, curve, at_peak }).expect("plain data can be written"))
}

fn at_peak(trace: &Trace, device: &Device, timeline: &Timeline) -> Vec<FixShare> {
    let study = Study::new(trace, device, timeline);
    let held = live_by_category(&study, timeline.live_peak().0).into_iter();
    held.map(|held| FixShare { category: held.category.name().replace('-', " "), bytes: held.bytes }).collect()
}

/// Number of points of a curve, roughly one per pixel of a chart.
const PARTS: u32 = 600;

/// Maximum number of marks of each kind.
const MOST_MARKS: usize = 600;

/// Prefix of the name that the recorder gives to the span of a step.
const STEP: &str = "ProfilerStep#";

/// Returns the curves of a device, the starts of its steps and its out-of-memory events.
///
/// Each point is the maximum of its part, so the maximum of all points is the exact peak.
pub(super) fn curve(trace: &Trace, device: &Device, timeline: &Timeline) -> RecordingCurve {
    let outline = timeline.outline(PARTS);
    let actions = device.events.actions().iter().enumerate();
    let ooms = actions.filter(|(_, action)| *action == Action::Oom).map(|(event, _)| event as u64);
    RecordingCurve {
        device: device.index,
        capacity_bytes: None,
        events: timeline.events().into(),
        live_curve: outline.live_bytes,
        reserved_curve: outline.reserved_bytes,
        peak_event: i64::from(timeline.live_peak().0) - 1,
        steps: thinned(steps(trace, device)),
        oom_events: ooms.take(MOST_MARKS).collect(),
    }
}

/// Returns the starts of the recorded steps; a span starts at the moment before its first event.
fn steps(trace: &Trace, device: &Device) -> Vec<StepStart> {
    let start = |span: &shared::analysis::Span| {
        let step = trace.strings.get(span.name).strip_prefix(STEP)?.parse().ok()?;
        Some(StepStart { step, event: span.start_moment.into() })
    };
    let mut steps: Vec<StepStart> = spans(trace, device).iter().filter_map(start).collect();
    steps.sort_by_key(|start| start.step);
    steps
}

/// Keeps every n-th step, so that at most [`MOST_MARKS`] are left.
fn thinned(steps: Vec<StepStart>) -> Vec<StepStart> {
    let every = steps.len().div_ceil(MOST_MARKS).max(1);
    steps.into_iter().step_by(every).collect()
}

/// A recording that ended by itself or by running out of memory, with a readable snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Cards as on the command line, or the name of a real GPU.
    pub card: String,
    /// The recorder's first line; `None` if it ran out of memory before that.
    pub started: Option<Started>,
    /// Completed optimizer steps.
    pub steps: u64,
    /// Number of events on all devices.
    pub events: u64,
    /// Wall-clock time from the start of the recorder to its end.
    pub seconds: f64,
    /// Peak of requested live bytes, on the device where it is highest.
    pub peak_live_bytes: u64,
    /// Peak of the rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Peak of the bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Memory over the events, on the device where live bytes are highest.
    pub curve: RecordingCurve,
    /// What is alive at the peak of that device, by category, the largest first.
    pub at_peak: Vec<FixShare>,
    /// Details of the out-of-memory error, if there was one.
    pub oom: Option<OutOfMemory>,
    pub messages: Vec<String>,
    /// Warnings of the virtual GPU about functions that it does not implement; figures may be off there.
    pub warnings: Vec<String>,
}

impl Recording {
    /// Returns the recording in the form that scripts read.
    pub fn report(&self) -> RecordingReport {
        let Self { card, steps, events, seconds, oom, .. } = self.clone();
        RecordingReport {
            card,
            steps,
            events,
            seconds,
            peak_live_bytes: self.peak_live_bytes,
            peak_allocated_bytes: self.peak_allocated_bytes,
            peak_reserved_bytes: self.peak_reserved_bytes,
            oom,
        }
    }

    /// Combines the recorder's first and last lines with the figures of its snapshot.
    pub(super) fn of(finished: Finished, started: Option<Started>, figures: Figures) -> Self {
        let Finished { steps, peak_allocated_bytes, peak_reserved_bytes, oom } = finished;
        let Figures { events, peak_live_bytes, curve, at_peak } = figures;
        let capacity_bytes = started.as_ref().map(|started| started.memory_bytes);
        Self {
            card: started.as_ref().map_or_else(String::new, |started| started.device.clone()),
            started,
            steps,
            events,
            seconds: 0.0,
            peak_live_bytes,
            peak_allocated_bytes,
            peak_reserved_bytes,
            curve: RecordingCurve { capacity_bytes, ..curve },
            at_peak,
            oom,
            messages: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::trace::text;

    use super::*;

    fn curve_of(events: &str) -> RecordingCurve {
        let trace = text::parse(events).unwrap();
        let device = &trace.devices[0];
        curve(&trace, device, &Timeline::new(&trace, device))
    }

    #[test]
    fn the_highest_part_is_the_peak() {
        let curve = curve_of("alloc a 10\nalloc b 20\nfree a\nalloc c 5\noom 100");
        assert_eq!(curve.events, 6);
        assert_eq!((curve.live_curve.iter().max(), curve.peak_event), (Some(&30), 1));
        assert_eq!(curve.oom_events, [5]);
        assert!(curve.steps.is_empty());
    }

    #[test]
    fn few_of_many_steps_are_kept() {
        let steps = |count| thinned((0..count).map(|step| StepStart { step, event: 2 * step }).collect());
        assert_eq!(steps(600).len(), 600);
        let few = steps(4000);
        assert!(few.len() <= MOST_MARKS);
        assert_eq!((few[1].step, few[1].event), (7, 14));
    }
}
