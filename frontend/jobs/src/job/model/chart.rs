//! Course of memory while a job runs, and its drawing.

use std::rc::Rc;

use frontend::draw::chart::{Axis, Chart as Plot, Curve, Labels, Plotted, Room, steps};
use frontend::draw::color::Color;
use frontend::draw::op::{Align, Font, Op, Point};
use frontend::draw::sketch::Sketch;
use frontend::draw::span::Span;
use frontend::draw::theme::Theme;
use frontend::draw::ticks::Tick;
use shared::api::RecordingCurve;
use shared::base::format;

use super::watch::Sample;

/// Room around the plot; above it for the card's label.
const ROOM: Room = Room { left: 64.0, top: 14.0, right: 8.0, bottom: 24.0 };
/// Distance from a mark to its label, in CSS pixels.
const GAP: f64 = 6.0;
/// Radius of the point on the peak, in CSS pixels.
const POINT: f64 = 3.0;

/// Chart without its size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    course: Rc<Course>,
    /// Memory of the card, in bytes, if the chart reaches up to it.
    capacity_bytes: Option<u64>,
}

impl Chart {
    /// Makes a chart.
    ///
    /// The card's memory is shown only once a quarter of it is in use, because otherwise it would flatten the curve.
    pub(crate) fn new(course: Rc<Course>, memory_bytes: Option<u64>) -> Self {
        let highest = course.highest_bytes();
        Self { capacity_bytes: memory_bytes.filter(|memory| highest >= memory / 4), course }
    }

    /// Returns true if the line of the card's memory is shown.
    pub(crate) fn has_capacity(&self) -> bool {
        self.capacity_bytes.is_some()
    }

    /// Describes the chart for screen readers.
    pub(crate) fn spoken(&self) -> String {
        let [live, reserved] = [self.course.peak_live_bytes(), self.course.peak_reserved_bytes()].map(format::bytes);
        let end = if self.course.ooms.is_empty() { "" } else { ", then it ran out of memory" };
        format!("Memory over the run: at most {live} live and {reserved} reserved{end}")
    }

    /// Draws the chart at a size in CSS pixels.
    pub(crate) fn sketch(&self, size: (f64, f64), theme: &Theme) -> Sketch {
        let mut plotted = self.plot(theme).plotted(size, theme);
        if let Some(capacity) = self.capacity_bytes {
            plotted.level(capacity as f64, theme.oom);
        }
        self.course.ooms.iter().for_each(|&x| plotted.upright(x, theme.oom));
        let labels = self.labels(&plotted, theme);
        plotted.ops.extend(labels);
        Sketch { ops: plotted.ops, width: size.0, height: size.1 }
    }

    fn plot(&self, theme: &Theme) -> Plot {
        let Course { parts, steps, .. } = self.course.as_ref();
        let highest = self.course.highest_bytes();
        let label = |&(value, step): &(f64, u64)| Tick { value, label: format!("step {}", step + 1) };
        let corners = |bytes: fn(&(u64, u64)) -> u64| corners(parts, bytes);
        Plot {
            x: Axis { range: Span::new(0.0, self.end()), labels: Labels::Given(steps.iter().map(label).collect()) },
            y: Axis::bytes(highest.max(self.capacity_bytes.unwrap_or(0))),
            room: ROOM,
            font: Font::LABEL,
            curves: vec![
                Curve::area(corners(|part| part.0), theme.live, 1.0, 0.24),
                Curve::line(corners(|part| part.1), theme.reserved, 1.5),
            ],
        }
    }

    fn end(&self) -> f64 {
        self.course.parts.len().max(1) as f64
    }

    /// Returns the labels of the card's memory, of the first out-of-memory error and of the peak, and the peak's point.
    fn labels(&self, plotted: &Plotted, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        let capacity = self.capacity_bytes.map(|bytes| (plotted.at((self.end(), bytes as f64)), bytes));
        if let Some(((x, y), bytes)) = capacity {
            let text = format!("GPU memory {}", format::bytes(bytes));
            ops.push(label((x - GAP, y - GAP - 2.0), text, Align::Right, theme.oom, theme));
        }
        if let Some(&at) = self.course.ooms.first() {
            let ((x, y), (align, gap)) = (plotted.at((at, 0.0)), self.beside(at));
            ops.push(label((x + gap, y - 2.0 * GAP), "out of memory".to_owned(), align, theme.oom, theme));
        }
        if let Some(at) = self.course.peak {
            let peak_bytes = self.course.peak_live_bytes();
            let point = plotted.at((at, peak_bytes as f64));
            ops.push(Op::Dot { at: point, radius: POINT, color: theme.peak, ring: theme.background });
            // The label stands above both curves unless the card's line is there.
            let high = plotted.at((at, self.bytes_around(at) as f64)).1;
            let has_room = capacity.is_none_or(|((_, card), _)| high - card > 2.0 * Font::LABEL.size);
            let y = if has_room { high - 2.0 * GAP } else { point.1 + 2.0 * GAP };
            let (align, gap) = self.beside(at);
            let text = format!("peak live {}", format::bytes(peak_bytes));
            ops.push(label((point.0 + gap, y), text, align, theme.text, theme));
        }
        ops
    }

    /// Returns the side of a mark that has room for a label, and the distance to it.
    fn beside(&self, x: f64) -> (Align, f64) {
        if x > self.end() / 2.0 { (Align::Right, -GAP) } else { (Align::Left, GAP) }
    }

    /// Returns the larger of live and reserved bytes at position `at`, in parts.
    fn bytes_around(&self, at: f64) -> u64 {
        self.course.parts.get(at as usize).map_or(0, |&(live, reserved)| live.max(reserved))
    }
}

/// Returns the corners of a stepped line.
fn corners(parts: &[(u64, u64)], bytes: fn(&(u64, u64)) -> u64) -> Vec<Point> {
    let values = parts.iter().enumerate().map(|(index, part)| (index as f64, bytes(part) as f64));
    steps(values, parts.len() as f64)
}

fn label((x, y): Point, text: String, align: Align, color: Color, theme: &Theme) -> Op {
    Op::Text { x, y, text, align, font: Font::LABEL, color, halo: Some(theme.background) }
}

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

    fn highest_bytes(&self) -> u64 {
        self.peak_live_bytes().max(self.peak_reserved_bytes())
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
    use shared::api::StepStart;

    use super::*;
    use crate::job::model::watch::Sample;

    fn course(steps: u64, highest: u64) -> Rc<Course> {
        let sample = |index| Sample { step: Some(index / 10), live_bytes: highest / 2, reserved_bytes: highest };
        Rc::new(Course::of_samples(&(0..steps * 10).map(sample).collect::<Vec<_>>()))
    }

    /// Returns the texts of a chart at a size.
    fn texts(chart: &Chart, size: (f64, f64)) -> Vec<String> {
        let text = |op: Op| match op {
            Op::Text { text, .. } => Some(text),
            _ => None,
        };
        chart.sketch(size, &Theme::light()).ops.into_iter().filter_map(text).collect()
    }

    #[track_caller]
    fn check_texts(chart: &Chart, expected: &[&str]) {
        let drawn = texts(chart, (800.0, 280.0));
        for text in expected {
            assert!(drawn.iter().any(|drawn| drawn == text), "{text} in {drawn:?}");
        }
    }

    #[test]
    fn the_card_is_in_sight_once_it_matters() {
        const GIB: u64 = 1 << 30;
        let chart = |highest| Chart::new(course(3, highest), Some(16 * GIB));
        assert!(!chart(GIB).has_capacity() && chart(4 * GIB).has_capacity());
        let top_bytes = |highest| chart(highest).plot(&Theme::light()).y.range.end;
        assert!(top_bytes(4 * GIB) > 16.0 * GIB as f64);
        assert!(top_bytes(GIB) < 1.2 * GIB as f64);
    }

    #[test]
    fn steps_are_labelled_where_they_have_room() {
        let labels = |steps, width| -> Vec<String> {
            let texts = texts(&Chart::new(course(steps, 1000), None), (width, 240.0));
            texts.into_iter().filter(|text| text.starts_with("step")).collect()
        };
        assert_eq!(labels(3, 800.0), ["step 1", "step 2", "step 3"]);
        assert_eq!(labels(4, 224.0), ["step 1", "step 3"]);
        assert!(labels(500, 800.0).len() < 20);
    }

    #[test]
    fn a_chart_of_nothing_can_be_drawn() {
        let chart = Chart::new(Rc::default(), None);
        chart.sketch((0.0, 0.0), &Theme::light());
        assert_eq!(chart.spoken(), "Memory over the run: at most 0 B live and 0 B reserved");
    }

    #[test]
    fn curves_are_steps() {
        let parts = [(5, 10), (5, 12)];
        assert_eq!(corners(&parts, |part| part.0), [(0.0, 5.0), (2.0, 5.0)]);
        assert_eq!(corners(&parts, |part| part.1), [(0.0, 10.0), (1.0, 10.0), (1.0, 12.0), (2.0, 12.0)]);
    }

    #[test]
    fn curves_and_labels_are_drawn() {
        let theme = Theme::light();
        let chart = Chart::new(course(3, 12 << 30), Some(16 << 30));
        check_texts(&chart, &["0 GiB", "step 1", "step 3", "GPU memory 16.0 GiB"]);
        let sketch = chart.sketch((800.0, 280.0), &theme);
        let has_line =
            |wanted: Color| sketch.ops.iter().any(|op| matches!(op, Op::Line { color, .. } if *color == wanted));
        assert!([theme.live, theme.reserved, theme.oom].into_iter().all(has_line));
        let inside = |&(x, y): &Point| (0.0..=800.0).contains(&x) && (0.0..=280.0).contains(&y);
        for op in &sketch.ops {
            if let Op::Line { points, .. } | Op::Area { points, .. } = op {
                assert!(points.iter().all(inside), "{op:?}");
            }
        }
    }

    #[test]
    fn the_peak_and_the_end_of_memory_are_marked() {
        let course = Course { peak: Some(20.5), ooms: vec![29.5], ..Course::clone(&course(3, 12 << 30)) };
        let chart = Chart::new(Rc::new(course), Some(16 << 30));
        assert!(chart.spoken().ends_with("12.0 GiB reserved, then it ran out of memory"), "{}", chart.spoken());
        check_texts(&chart, &["peak live 6.00 GiB", "out of memory"]);
        let ops = chart.sketch((800.0, 280.0), &Theme::dark()).ops;
        assert_eq!(ops.iter().filter(|op| matches!(op, Op::Dot { .. })).count(), 1);
    }

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
