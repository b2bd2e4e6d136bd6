//! Charts of live bytes of both sides, and of one rank.

use crate::ask::CurveData;
use crate::draw::chart::{Axis, Chart, Curve, Labels, Room, columns};
use crate::draw::curves::{Curves, Mark, MarkAt, ROOM};
use crate::draw::op::Font;
use crate::draw::sketch::Sketch;
use crate::draw::span::Span;
use crate::draw::theme::Theme;

/// Opacity of the area below a curve.
const AREA: f32 = 0.14;

/// Returns the position of a moment on a curve, from 0 to 1; `None` if the curve does not contain it.
fn place_of(data: &CurveData, moment: u32) -> Option<f64> {
    let is_inside = data.start <= moment && moment <= data.end;
    let moments = f64::from(data.end.saturating_sub(data.start)) + 1.0;
    is_inside.then(|| (f64::from(moment - data.start) + 0.5) / moments)
}

/// Makes the chart of both curves over each other, each as wide as its trace or step, with a line at each compared moment.
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

/// Draws the curve of one rank without labels; `top_bytes` is at the top.
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
    use crate::draw::op::Op;

    #[test]
    fn both_sides_have_a_curve_of_steps() {
        let data = CurveData { start: 4, end: 7, bytes: vec![0, 50] };
        let names = ["this".to_owned(), "other".to_owned()];
        let both = sides(&names, [Some(&data), Some(&data)], Some([4, 9]), &Theme::light());
        assert_eq!(both.chart.curves[1].points, [(0.0, 0.0), (0.5, 0.0), (0.5, 50.0), (1.0, 50.0)]);
        assert_eq!(both.chart.curves.iter().map(|curve| curve.dashed).collect::<Vec<_>>(), [true, false]);
        assert_eq!(
            both.marks,
            [Mark { at: MarkAt::X(0.125), color: Theme::light().live }],
            "the other moment is outside"
        );
        let one = sides(&names, [None, Some(&data)], None, &Theme::light());
        assert_eq!((one.chart.curves.len(), one.marks.len(), one.legend.len()), (1, 0, 2));
    }

    #[test]
    fn a_strip_reaches_the_top_only_at_the_common_peak() {
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
    }

    #[test]
    fn a_moment_lies_in_its_middle() {
        let data = CurveData { start: 4, end: 7, bytes: vec![1] };
        assert_eq!(place_of(&data, 4), Some(0.125));
        assert_eq!(place_of(&data, 7), Some(0.875));
        assert_eq!(place_of(&data, 3), None);
        assert_eq!(place_of(&data, 8), None);
    }
}
