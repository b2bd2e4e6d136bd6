//! Memory of a job over its run, as its chart draws it.
//!
//! It is sampled while the job runs and read from the snapshot afterwards.

use super::watch::Sample;
use shared::api::RecordingCurve;

/// Source of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    /// Samples that the recorder reported; memory between two samples is unknown.
    #[default]
    Samples,
    /// The snapshot; each part holds its maximum.
    Snapshot,
}

/// Two curves in parts of equal width, with their marks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Course {
    pub source: Source,
    /// Live and reserved bytes of each part.
    pub parts: Vec<(u64, u64)>,
    /// Starts of steps, in parts, and their numbers from 0.
    pub steps: Vec<(f64, u64)>,
    /// Position of the largest live bytes, in parts; `None` if it is unknown.
    pub peak: Option<f64>,
    /// Positions of out-of-memory errors, in parts.
    pub ooms: Vec<f64>,
}

impl Course {
    /// Builds the curves from the samples taken so far.
    pub(crate) fn of_samples(samples: &[Sample]) -> Self {
        let mut steps = Vec::new();
        let mut latest = None;
        for (index, sample) in samples.iter().enumerate() {
            if let Some(step) = sample.step.filter(|_| sample.step > latest) {
                steps.push((index as f64, step));
            }
            latest = latest.max(sample.step);
        }
        let parts = samples.iter().map(|sample| (sample.live_bytes, sample.reserved_bytes)).collect();
        Self { parts, steps, ..Self::default() }
    }

    /// Builds the curves from a recording's snapshot.
    pub(crate) fn of_curve(curve: &RecordingCurve) -> Self {
        let parts: Vec<(u64, u64)> =
            curve.live_curve.iter().copied().zip(curve.reserved_curve.iter().copied()).collect();
        // Event `i` leads from moment `i` to moment `i + 1`, so there is one more moment than events.
        let place = |moment: u64| moment as f64 * parts.len() as f64 / (curve.events + 1) as f64;
        let highest = parts.iter().map(|(live, _)| live).max();
        let peak = parts.iter().position(|(live, _)| Some(live) == highest);
        Self {
            source: Source::Snapshot,
            steps: curve.steps.iter().map(|start| (place(start.event), start.step)).collect(),
            // The mark stands in the middle of its part, so that it lies on the line.
            peak: peak.map(|part| part as f64 + 0.5),
            ooms: curve.oom_events.iter().map(|event| place(event + 1)).collect(),
            parts,
        }
    }

    /// Returns the largest live bytes that are drawn.
    pub(crate) fn peak_live_bytes(&self) -> u64 {
        self.parts.iter().map(|(live, _)| *live).max().unwrap_or(0)
    }

    /// Returns the largest reserved bytes that are drawn.
    pub(crate) fn peak_reserved_bytes(&self) -> u64 {
        self.parts.iter().map(|(_, reserved)| *reserved).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::StepStart;

    #[test]
    fn samples_are_parts_and_steps_begin_once() {
        let sample = |step, bytes| Sample { step, live_bytes: bytes, reserved_bytes: 2 * bytes };
        let samples = [sample(None, 1), sample(Some(0), 5), sample(Some(0), 7), sample(Some(1), 3)];
        let course = Course::of_samples(&samples);
        assert_eq!(course.parts, [(1, 2), (5, 10), (7, 14), (3, 6)]);
        assert_eq!(course.steps, [(1.0, 0), (3.0, 1)]);
        assert_eq!((course.source, course.peak), (Source::Samples, None));
    }

    #[test]
    fn a_recording_has_its_marks_where_they_belong() {
        let curve = RecordingCurve {
            events: 7,
            live_curve: vec![1, 9, 9, 4],
            reserved_curve: vec![10, 20, 20, 20],
            peak_event: 2,
            steps: vec![StepStart { step: 0, event: 2 }, StepStart { step: 1, event: 6 }],
            oom_events: vec![6],
            ..RecordingCurve::default()
        };
        let course = Course::of_curve(&curve);
        assert_eq!((course.peak, course.peak_live_bytes(), course.peak_reserved_bytes()), (Some(1.5), 9, 20));
        assert_eq!(course.steps, [(1.0, 0), (3.0, 1)]);
        assert_eq!(course.ooms, [3.5]);
        assert_eq!(Course::of_curve(&RecordingCurve::default()).peak, None);
    }
}
