//! Computes the memory curve of a recording, small enough to be stored with its figures.

use shared::analysis::{Timeline, spans};
use shared::api::{RecordingCurve, StepStart};
use shared::trace::{Action, Device, Trace};

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

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::text;

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
