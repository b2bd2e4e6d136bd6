//! Chart of memory with its marks and its legend, for the screen and for saved pictures.

use super::chart::{Chart, Room};
use super::color::Color;
use super::op::{Align, Font, Op};
use super::rect::Rect;
use super::sketch::Sketch;
use super::theme::Theme;

/// Width and height of a saved picture in pixels.
const SAVED: (f64, f64) = (1000.0, 360.0);

/// Room around the plot of a saved picture, with the legend above it.
const SAVED_ROOM: Room = Room { left: 84.0, top: 30.0, right: 14.0, bottom: 14.0 };

/// Room around a plot that only has labels of bytes.
pub const ROOM: Room = Room { left: 72.0, top: 8.0, right: 4.0, bottom: 7.0 };

/// Chart with marks and a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    pub chart: Chart,
    pub marks: Vec<Mark>,
    /// Names and colours for a saved picture; a page has its own legend.
    pub legend: Vec<(String, Color)>,
}

/// Dashed line across the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    pub at: MarkAt,
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkAt {
    /// Vertical line at a position of the horizontal axis.
    X(f64),
    /// Horizontal line at a number of bytes.
    Bytes(u64),
}

impl Curves {
    /// Draws the chart and its marks at a size in CSS pixels.
    pub fn sketch(&self, size: (f64, f64), theme: &Theme) -> Sketch {
        let mut plotted = self.chart.plotted(size, theme);
        for mark in &self.marks {
            match mark.at {
                MarkAt::X(x) => plotted.upright(x, mark.color),
                MarkAt::Bytes(bytes) => plotted.level(bytes as f64, mark.color),
            }
        }
        Sketch { ops: plotted.ops, width: size.0, height: size.1 }
    }

    /// Draws the chart with its legend, as a picture to save.
    pub fn saved(&self, theme: &Theme) -> Sketch {
        let chart = Chart { room: SAVED_ROOM, ..self.chart.clone() };
        let mut sketch = Self { chart, ..self.clone() }.sketch(SAVED, theme);
        let mut x = SAVED_ROOM.left;
        for (name, color) in &self.legend {
            let rect = Rect::new(x, 9.0, 18.0, 4.0);
            sketch.ops.push(Op::Fill { rect, radius: 0.0, color: *color });
            sketch.ops.push(Op::text((x + 24.0, 11.0), name.as_str(), Align::Left, Font::LABEL, theme.text));
            x += 24.0 + Font::LABEL.width(name) + 18.0;
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::chart::{Axis, Curve, columns};

    #[test]
    fn a_saved_picture_has_marks_and_names() {
        let theme = Theme::dark();
        let chart = Chart {
            x: Axis::bare(),
            y: Axis::bytes(4 << 30),
            room: ROOM,
            font: Font::LABEL,
            curves: vec![Curve::area(columns([1 << 30].into_iter()), theme.live, 1.0, 0.2)],
        };
        let marks =
            vec![Mark { at: MarkAt::Bytes(4 << 30), color: theme.oom }, Mark { at: MarkAt::X(0.5), color: theme.oom }];
        let curves = Curves { chart, marks, legend: vec![("Live".to_owned(), theme.live)] };
        let sketch = curves.saved(&theme);
        let has = |name: &str| sketch.ops.iter().any(|op| matches!(op, Op::Text { text, .. } if text == name));
        assert!(has("Live") && has("4 GiB"), "{:?}", sketch.ops);
        let dashed: Vec<_> = { sketch.ops.iter() }
            .filter_map(|op| match op {
                Op::Line { points, dashed: true, .. } => Some(points.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(dashed.len(), 2);
        assert!(dashed[0][0].1 > SAVED_ROOM.top, "the line of the bytes is in sight");
        assert!((dashed[1][0].0 - (84.0 + 902.0 / 2.0)).abs() <= 0.5, "half-way across");
    }
}
