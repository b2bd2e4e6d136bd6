//! Draws what is above a picture: title, figures and legend.

use crate::draw::color::Color;
use crate::draw::op::{Align, Font, Op, Point};
use crate::draw::rect::Rect;
use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;

/// Distance in pixels from the edges of the picture to its content.
pub(super) const MARGIN: f64 = 18.0;

/// Height of everything above the plot of a moment, in pixels.
pub(super) const ABOVE: f64 = 82.0;

/// Baseline of the title, in pixels.
pub(super) const TITLE_LINE: f64 = 26.0;

pub(super) const LABEL: Font = Font::plain(12.0);
pub(super) const TITLE: Font = Font::strong(15.0);

/// Mark beside an entry of a legend.
pub(super) enum Swatch {
    None,
    Line(Color),
    Upright(Color),
    Dot(Color),
    /// Stripes below each other.
    Stripes(Vec<Color>),
}

/// Draws the background, title, figures and legend of a picture of one moment.
pub(super) fn heading(
    size: (u32, u32),
    (title, figures): (&str, &str),
    entries: &[(&str, Swatch)],
    theme: &Theme,
) -> Sketch {
    let mut sketch = Sketch::blank(f64::from(size.0), f64::from(size.1), theme);
    let room = sketch.width - 2.0 * MARGIN;
    let title = TITLE.fitted(title, room);
    sketch.ops.push(words((MARGIN, TITLE_LINE), &title, Align::Left, TITLE, theme.text));
    sketch.ops.push(label((MARGIN, 48.0), &LABEL.fitted(figures, room), Align::Left, theme));
    legend(entries, 65.0, sketch.width, theme, &mut sketch.ops);
    sketch
}

/// Draws the entries of a legend around a height, as many as fit.
pub(super) fn legend(entries: &[(&str, Swatch)], middle: f64, width: f64, theme: &Theme, ops: &mut Vec<Op>) {
    let mut left = MARGIN;
    for (text, swatch) in entries {
        let at = left + if matches!(swatch, Swatch::None) { 0.0 } else { Swatch::WIDTH + 6.0 };
        let end = at + LABEL.width(text);
        if end > width - MARGIN {
            break;
        }
        swatch.draw((left, middle), theme, ops);
        ops.push(label((at, middle + 4.0), text, Align::Left, theme));
        left = end + 18.0;
    }
}

impl Swatch {
    const WIDTH: f64 = 18.0;
    const HEIGHT: f64 = 10.0;

    /// Draws the mark at its left end and vertical centre.
    fn draw(&self, (left, middle): Point, theme: &Theme, ops: &mut Vec<Op>) {
        let center = left + Self::WIDTH / 2.0;
        match self {
            Self::None => (),
            Self::Line(color) => ops.push(Op::line([(left, middle), (left + Self::WIDTH, middle)], 2.0, *color)),
            Self::Upright(color) => ops.push(Op::line([(center, middle - 6.0), (center, middle + 6.0)], 2.0, *color)),
            Self::Dot(color) => ops.push(dot((center, middle), *color, theme)),
            Self::Stripes(colors) => {
                let (top, height) = (middle - Self::HEIGHT / 2.0, Self::HEIGHT / colors.len() as f64);
                ops.extend(colors.iter().enumerate().map(|(row, &color)| {
                    let rect = Rect::new(left, top + row as f64 * height, Self::WIDTH, height);
                    Op::Boxes { boxes: vec![rect], color }
                }));
            }
        }
    }
}

/// Draws the mark of the peak.
pub(super) fn dot(at: Point, color: Color, theme: &Theme) -> Op {
    Op::Dot { at, radius: 3.25, color, ring: theme.background }
}

/// Draws a less important text on a baseline.
pub(super) fn label(at: Point, text: &str, align: Align, theme: &Theme) -> Op {
    words(at, text, align, LABEL, theme.text_muted)
}

/// Draws a text on a baseline.
pub(super) fn words((x, baseline): Point, text: &str, align: Align, font: Font, color: Color) -> Op {
    Op::text((x, baseline - font.baseline()), text, align, font, color)
}
