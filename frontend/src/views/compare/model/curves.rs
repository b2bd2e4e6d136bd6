//! Curves of live bytes of both sides as SVG paths in one box.

use crate::ask::CurveData;
use crate::draw::curves::{Curve as Curves, Mark, MarkAt, curves as draw_curves};
use crate::draw::svg::Sketch;
use crate::draw::theme::Theme;

/// A curve in a box of 1000 by 100 units, with the origin in the upper left corner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Outline, as the attribute `d` of a path.
    pub line: String,
    /// The outline, closed along the bottom.
    pub area: String,
}

/// Width of the box.
const WIDTH: f64 = 1000.0;
/// Height of the box.
const HEIGHT: f64 = 100.0;

/// Draws a curve in steps; `top_bytes` is at the top of the box.
pub fn curve(data: &CurveData, top_bytes: u64) -> Curve {
    let columns = data.bytes.len() as f64;
    let y = |bytes: u64| HEIGHT - HEIGHT * bytes as f64 / top_bytes.max(1) as f64;
    let mut line = String::new();
    for (column, &bytes) in data.bytes.iter().enumerate() {
        let (left, right) = (column as f64 / columns * WIDTH, (column + 1) as f64 / columns * WIDTH);
        let command = if column == 0 { 'M' } else { 'L' };
        line += &format!("{command}{left:.1} {:.2}H{right:.1}", y(bytes));
    }
    let area = if line.is_empty() { String::new() } else { format!("{line}V{HEIGHT}H0Z") };
    Curve { line, area }
}

/// Returns the x coordinate of a moment in the box, or `None` if the curve does not contain it.
pub fn place_of(data: &CurveData, moment: u32) -> Option<f64> {
    let is_inside = data.start <= moment && moment <= data.end;
    let moments = f64::from(data.end.saturating_sub(data.start)) + 1.0;
    is_inside.then(|| (f64::from(moment - data.start) + 0.5) / moments * WIDTH)
}

/// Draws both curves as a picture to save, with the compared moments and the names; this side comes first.
pub fn sketch(names: &[String; 2], curves: [&CurveData; 2], moments: [u32; 2], theme: &Theme) -> Sketch {
    let colors = [theme.accent, theme.reserved];
    let line = |side: usize| Curves {
        name: names[side].clone(),
        color: colors[side],
        is_area: false,
        bytes: curves[side].bytes.clone(),
    };
    let mark = |side: usize| {
        let x = place_of(curves[side], moments[side])?;
        Some(Mark { name: String::new(), color: colors[side], at: MarkAt::Share(x / WIDTH) })
    };
    let marks: Vec<Mark> = [1, 0].into_iter().filter_map(mark).collect();
    draw_curves(&[line(1), line(0)], &marks, theme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_a_path_of_steps() {
        let data = CurveData { start: 4, end: 7, bytes: vec![0, 50] };
        let Curve { line, area } = curve(&data, 100);
        assert_eq!(line, "M0.0 100.00H500.0L500.0 50.00H1000.0");
        assert_eq!(area, format!("{line}V100H0Z"));
        assert_eq!(curve(&CurveData::default(), 0).area, "");
    }

    #[test]
    fn a_moment_lies_in_its_middle() {
        let data = CurveData { start: 4, end: 7, bytes: vec![1] };
        assert_eq!(place_of(&data, 4), Some(125.0));
        assert_eq!(place_of(&data, 7), Some(875.0));
        assert_eq!(place_of(&data, 3), None);
        assert_eq!(place_of(&data, 8), None);
    }
}
