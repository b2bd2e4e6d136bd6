//! Picture of memory curves over each other with an axis and a legend, for the What-if and Compare tabs.

use super::color::Color;
use super::layout::Rect;
use super::overlay::{Align, Font, Op};
use super::span::Span;
use super::svg::Sketch;
use super::theme::Theme;
use super::ticks::byte_ticks;

/// Width and height of the picture in pixels.
const SIZE: (f64, f64) = (1000.0, 360.0);
/// Room for the byte labels on the left, and for the legend above, in pixels.
const LEFT: f64 = 84.0;
const TOP: f64 = 30.0;
/// Margin on the right and below, in pixels.
const MARGIN: f64 = 14.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    pub color: Color,
    /// True if the area below the curve is filled and no line is drawn.
    pub is_area: bool,
    /// Maximum bytes within each of several equal parts of the axis.
    pub bytes: Vec<u64>,
}

/// A dashed line across the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Name in the legend; empty for none.
    pub name: String,
    pub color: Color,
    pub at: MarkAt,
}

/// Position of a [`Mark`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkAt {
    /// A vertical line at a share of the width, from 0 to 1.
    Share(f64),
    /// A horizontal line at a number of bytes.
    Bytes(u64),
}

/// Draws the curves, the first one at the bottom, and the marks above them.
pub fn curves(curves: &[Curve], marks: &[Mark], theme: &Theme) -> Sketch {
    let highest = curves.iter().flat_map(|curve| &curve.bytes).copied();
    let marked = marks.iter().filter_map(|mark| match mark.at {
        MarkAt::Bytes(bytes) => Some(bytes),
        MarkAt::Share(_) => None,
    });
    let top_bytes = highest.chain(marked).max().unwrap_or(0).max(1024) as f64 * 1.06;
    let plot = Plot {
        area: Rect { x: LEFT, y: TOP, width: SIZE.0 - LEFT - MARGIN, height: SIZE.1 - TOP - MARGIN },
        bytes: Span::new(0.0, top_bytes),
    };
    let mut ops = plot.axis(theme);
    curves.iter().for_each(|curve| plot.curve(curve, &mut ops));
    marks.iter().for_each(|mark| plot.mark(mark, &mut ops));
    let named = curves.iter().map(|curve| (curve.name.as_str(), curve.color));
    legend(named.chain(marks.iter().map(|mark| (mark.name.as_str(), mark.color))), theme, &mut ops);
    Sketch { ops, width: SIZE.0, height: SIZE.1 }
}

struct Plot {
    area: Rect,
    bytes: Span,
}

impl Plot {
    fn y(&self, bytes: f64) -> f64 {
        self.area.bottom() - self.bytes.fraction(bytes) * self.area.height
    }

    fn axis(&self, theme: &Theme) -> Vec<Op> {
        let ticks = byte_ticks(self.bytes, self.bytes.len() * 52.0 / self.area.height);
        let tick = |tick: super::ticks::Tick| {
            let y = self.y(tick.value);
            let (from, to, color) = ((self.area.x, y), (self.area.right(), y), theme.grid);
            let line = Op::Line { from, to, width: 1.0, color, dashed: false };
            [line, label(self.area.x - 8.0, y, &tick.label, Align::Right, theme.text_muted)]
        };
        ticks.into_iter().flat_map(tick).collect()
    }

    fn curve(&self, curve: &Curve, ops: &mut Vec<Op>) {
        let Curve { color, is_area, bytes, .. } = curve;
        let width = self.area.width / bytes.len().max(1) as f64;
        let mut before: Option<(f64, f64)> = None;
        for (column, &bytes) in bytes.iter().enumerate() {
            let (left, y) = (self.area.x + column as f64 * width, self.y(bytes as f64));
            if *is_area {
                let rect = Rect { x: left, y, width, height: self.area.bottom() - y };
                ops.push(Op::Fill { rect, radius: 0.0, color: *color });
                continue;
            }
            let mut line = |from, to| ops.push(Op::Line { from, to, width: 1.5, color: *color, dashed: false });
            before.iter().filter(|before| before.1 != y).for_each(|&before| line(before, (left, y)));
            line((left, y), (left + width, y));
            before = Some((left + width, y));
        }
    }

    fn mark(&self, mark: &Mark, ops: &mut Vec<Op>) {
        let (from, to) = match mark.at {
            MarkAt::Share(share) => {
                let x = self.area.x + share.clamp(0.0, 1.0) * self.area.width;
                ((x, self.area.y), (x, self.area.bottom()))
            }
            MarkAt::Bytes(bytes) => {
                let y = self.y(bytes as f64);
                ((self.area.x, y), (self.area.right(), y))
            }
        };
        ops.push(Op::Line { from, to, width: 1.5, color: mark.color, dashed: true });
    }
}

fn label(x: f64, y: f64, text: &str, align: Align, color: Color) -> Op {
    Op::Text { x, y, text: text.to_owned(), align, font: Font::Label, color, halo: None }
}

fn legend<'a>(entries: impl Iterator<Item = (&'a str, Color)>, theme: &Theme, ops: &mut Vec<Op>) {
    let mut x = LEFT;
    // A mark of a curve has the curve's colour and no name.
    for (name, color) in entries.filter(|(name, _)| !name.is_empty()) {
        let rect = Rect { x, y: 9.0, width: 18.0, height: 4.0 };
        ops.push(Op::Fill { rect, radius: 0.0, color });
        ops.push(label(x + 24.0, 11.0, name, Align::Left, theme.text));
        x += 24.0 + Font::Label.width(name) + 18.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(is_area: bool, bytes: &[u64]) -> Curve {
        Curve { name: "Live".to_owned(), color: Color::new(7), is_area, bytes: bytes.to_vec() }
    }

    #[test]
    fn a_curve_goes_from_edge_to_edge_and_the_highest_is_highest() {
        let sketch = curves(&[curve(false, &[1 << 30, 2 << 30])], &[], &Theme::light());
        let lines = sketch.ops.iter().filter_map(|op| match op {
            Op::Line { from, to, color, .. } if *color == Color::new(7) => Some((*from, *to)),
            _ => None,
        });
        let lines = lines.collect::<Vec<_>>();
        assert_eq!(lines.len(), 3, "two levels and the step between them");
        assert_eq!((lines[0].0.0, lines[2].1.0), (LEFT, SIZE.0 - MARGIN));
        let bottom = SIZE.1 - MARGIN;
        let height = |y: f64| bottom - y;
        assert!((height(lines[2].1.1) / height(lines[0].0.1) - 2.0).abs() < 1e-9, "twice the bytes are twice as high");
        assert!(lines[2].1.1 > TOP);
    }

    #[test]
    fn marks_and_names_are_there() {
        let mark = Mark { name: "card".to_owned(), color: Color::new(9), at: MarkAt::Bytes(4 << 30) };
        let sketch = curves(&[curve(true, &[1 << 30])], &[mark], &Theme::dark());
        let has = |name: &str| sketch.ops.iter().any(|op| matches!(op, Op::Text { text, .. } if text == name));
        assert!(has("Live") && has("card") && has("4 GiB"), "{:?}", sketch.ops);
        let inside = |op: &Op| match op {
            Op::Line { from, .. } => from.1 >= TOP,
            _ => true,
        };
        assert!(sketch.ops.iter().all(inside), "the card's line is in sight");
    }
}
