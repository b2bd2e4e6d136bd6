//! Texts and numbers of a comparison: moments to choose from, charts of both sides, and the table of differences.

use crate::ask::{CompareSide, CurveData, DeviceFigures, StepData, side_value};
use crate::draw::chart::{Axis, Chart, Curve, Labels, Room, columns};
use crate::draw::curves::{Curves, Mark, MarkAt, ROOM};
use crate::draw::{Font, Sketch, Span, Theme};
use shared::base::{Moment, format};

/// Value of an option, see [`side_value`], and its label.
pub type MomentChoice = (String, String);

/// Lists single moments of a device: peak, start, end, the pinned one, and the chosen one if it is yet another.
pub fn moment_choices(figures: &DeviceFigures, pinned: Option<u32>, chosen: CompareSide) -> Vec<MomentChoice> {
    let size = format::bytes;
    let choice = |side: CompareSide, label: String| (side_value(side), label);
    let mut choices = vec![
        choice(CompareSide::Peak, format!("Peak, {}", size(figures.summary.peak_live_bytes))),
        choice(CompareSide::Start, format!("Start, {}", size(figures.summary.initial_bytes))),
        choice(CompareSide::End, format!("End, {}", size(figures.summary.end_live_bytes))),
    ];
    if let Some(moment) = pinned {
        choices.push(choice(CompareSide::Moment(moment), format!("Pin, {}", Moment(moment))));
    }
    if let CompareSide::Moment(moment) = chosen
        && pinned != Some(moment)
    {
        choices.push(choice(chosen, Moment(moment).to_string()));
    }
    choices
}

pub fn step_choices(steps: &[StepData]) -> Vec<MomentChoice> {
    let label = |(step, data): (u32, &StepData)| {
        let label = format!("Step {}, {}", step + 1, format::bytes(data.peak_bytes));
        (side_value(CompareSide::Step(step)), label)
    };
    (0..).zip(steps).map(label).collect()
}

pub fn side_name(side: CompareSide) -> String {
    match side {
        CompareSide::Peak => "peak".to_owned(),
        CompareSide::Start => "start".to_owned(),
        CompareSide::End => "end".to_owned(),
        CompareSide::Moment(moment) => Moment(moment).to_string(),
        CompareSide::Step(step) => format!("peak of step {}", step + 1),
    }
}

/// Returns the sides that are compared at first: this one and the other one.
///
/// Two devices are compared at their peaks. On one device, the last step is compared with an early one, which shows
/// what grows. The first of more than two steps is left out, because memory that stays is allocated in it. With fewer
/// than two steps, the peak is compared with the end.
pub fn default_sides(is_same_device: bool, steps: usize) -> (CompareSide, CompareSide) {
    match (is_same_device, steps) {
        (false, _) => (CompareSide::Peak, CompareSide::Peak),
        (true, 0 | 1) => (CompareSide::Peak, CompareSide::End),
        (true, steps) => (CompareSide::Step(steps as u32 - 1), CompareSide::Step(u32::from(steps > 2))),
    }
}

const AREA: f32 = 0.14;

/// Returns the position of a moment on a curve, from 0 to 1; `None` if the curve does not contain it.
fn place_of(data: &CurveData, moment: u32) -> Option<f64> {
    let is_inside = data.start <= moment && moment <= data.end;
    let moments = f64::from(data.end.saturating_sub(data.start)) + 1.0;
    is_inside.then(|| (f64::from(moment - data.start) + 0.5) / moments)
}

/// Makes the chart of both curves over each other, each as wide as its trace or step, with a line at each moment.
///
/// This side comes first; a curve that has not arrived is left out.
pub fn sides(names: &[String; 2], curves: [Option<&CurveData>; 2], moments: Option<[u32; 2]>, theme: &Theme) -> Curves {
    let colors = [theme.live, theme.reserved];
    let highest = curves.iter().flatten().flat_map(|data| &data.bytes).copied().max().unwrap_or(0);
    let line = |side: usize| {
        let line = Curve::area(columns(curves[side]?.bytes.iter().copied()), colors[side], 1.5, AREA);
        // Dashes tell the sides apart without colours.
        Some(if side == 1 { line.dashed() } else { line })
    };
    let mark = |side: usize| {
        let at = MarkAt::X(place_of(curves[side]?, moments?[side])?);
        Some(Mark { at, color: colors[side] })
    };
    Curves {
        chart: Chart {
            x: Axis::bare(),
            y: Axis::bytes(highest),
            room: ROOM,
            font: Font::LABEL,
            curves: [1, 0].into_iter().filter_map(line).collect(),
        },
        marks: [1, 0].into_iter().filter_map(mark).collect(),
        legend: [1, 0].map(|side| (names[side].clone(), colors[side])).to_vec(),
    }
}

pub fn strip(data: &CurveData, top_bytes: u64, size: (f64, f64), theme: &Theme) -> Sketch {
    let chart = Chart {
        x: Axis::bare(),
        y: Axis { range: Span::new(0.0, top_bytes.max(1) as f64), labels: Labels::None },
        room: Room::default(),
        font: Font::LABEL,
        curves: vec![Curve::area(columns(data.bytes.iter().copied()), theme.live, 1.5, AREA)],
    };
    Sketch { ops: chart.plotted(size, theme).ops, width: size.0, height: size.1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::side_of_value;
    use crate::draw::Op;
    use shared::report::Summary;

    #[test]
    fn sides_are_values_and_back() {
        use CompareSide::{End, Moment, Peak, Start, Step};
        for side in [Peak, Start, End, Moment(7), Step(0)] {
            assert_eq!(side_of_value(&side_value(side)), Some(side));
        }
        for wrong in ["", "m", "sx", "é", "middle"] {
            assert_eq!(side_of_value(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_pin_and_the_chosen_moment_can_be_chosen() {
        let summary = Summary { peak_live_bytes: 2048, ..Summary::default() };
        let figures = DeviceFigures { summary, ..DeviceFigures::default() };
        let labels = |pinned, chosen| -> Vec<String> {
            moment_choices(&figures, pinned, chosen).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(None, CompareSide::Peak), ["Peak, 2.00 KiB", "Start, 0 B", "End, 0 B"]);
        assert_eq!(labels(Some(1001), CompareSide::Moment(1001))[3..], ["Pin, after event 1,000"]);
        let both = labels(Some(8), CompareSide::Moment(0));
        assert_eq!(both[3..], ["Pin, after event 7", "before the first event"]);
    }

    #[test]
    fn steps_count_from_one_and_show_what_grows() {
        let steps = [StepData { start: 0, end: 4, peak_bytes: 512 }];
        assert_eq!(step_choices(&steps), [("s0".to_owned(), "Step 1, 512 B".to_owned())]);
        assert_eq!(side_name(CompareSide::Step(0)), "peak of step 1");
        assert_eq!(default_sides(false, 9), (CompareSide::Peak, CompareSide::Peak));
        assert_eq!(default_sides(true, 1), (CompareSide::Peak, CompareSide::End));
        assert_eq!(default_sides(true, 2), (CompareSide::Step(1), CompareSide::Step(0)));
        assert_eq!(default_sides(true, 9), (CompareSide::Step(8), CompareSide::Step(1)));
    }

    #[test]
    fn both_sides_have_a_curve_of_steps() {
        let data = CurveData { start: 4, end: 7, bytes: vec![0, 50] };
        let names = ["this".to_owned(), "other".to_owned()];
        let both = sides(&names, [Some(&data), Some(&data)], Some([4, 9]), &Theme::light());
        assert_eq!(both.chart.curves[1].points, [(0.0, 0.0), (0.5, 0.0), (0.5, 50.0), (1.0, 50.0)]);
        assert_eq!(both.chart.curves.iter().map(|curve| curve.dashed).collect::<Vec<_>>(), [true, false]);
        let inside = [Mark { at: MarkAt::X(0.125), color: Theme::light().live }];
        assert_eq!(both.marks, inside, "the other moment is outside");
        let one = sides(&names, [None, Some(&data)], None, &Theme::light());
        assert_eq!((one.chart.curves.len(), one.marks.len(), one.legend.len()), (1, 0, 2));
    }

    #[test]
    fn strips_and_moments_have_their_place() {
        let highest = |top_bytes| {
            let data = CurveData { start: 0, end: 1, bytes: vec![50] };
            let sketch = strip(&data, top_bytes, (100.0, 40.0), &Theme::dark());
            let heights = sketch.ops.iter().filter_map(|op| match op {
                Op::Area { points, .. } => points.iter().map(|(_, y)| *y).reduce(f64::min),
                _ => None,
            });
            heights.reduce(f64::min).unwrap()
        };
        assert!(highest(50) < 0.2 && (highest(100) - 20.0).abs() < 0.2);
        let data = CurveData { start: 4, end: 7, bytes: vec![1] };
        assert_eq!([3, 4, 7, 8].map(|moment| place_of(&data, moment)), [None, Some(0.125), Some(0.875), None]);
    }
}
