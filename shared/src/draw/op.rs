//! Defines the operations that every drawing consists of, on the page and in files.
//!
//! The page carries them out on a canvas, [`super::svg`] writes them as SVG, and the server paints them as pixels.

use crate::draw::{Color, Rect};

/// Position in CSS pixels from the left and from the top.
pub type Point = (f64, f64);

/// Width of the ring around a dot, in CSS pixels.
pub const RING: f64 = 1.5;

/// Width of the contour that keeps a text readable, in CSS pixels, half of it outside of the letters.
pub const HALO: f64 = 3.0;

/// Lengths of a dash and of a gap, in CSS pixels.
pub const DASH: [f64; 2] = [3.0, 3.0];

/// Horizontal alignment of a text at its `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `x` is the left end.
    Left,
    /// `x` is the middle.
    Center,
    /// `x` is the right end.
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Height in CSS pixels.
    pub size: f64,
    /// True for a heavier font.
    pub is_strong: bool,
}

impl Font {
    pub const LABEL: Self = Self::plain(11.0);
    pub const STRONG: Self = Self::strong(11.5);

    pub const fn plain(size: f64) -> Self {
        Self { size, is_strong: false }
    }

    pub const fn strong(size: f64) -> Self {
        Self { size, is_strong: true }
    }

    /// Returns the font's weight on the scale of CSS.
    pub fn weight(self) -> u32 {
        if self.is_strong { 600 } else { 400 }
    }

    /// Returns an estimated width in CSS pixels that the text hardly exceeds; it needs no font.
    pub fn width(self, text: &str) -> f64 {
        let share = if self.is_strong { 0.60 } else { 0.56 };
        text.chars().count() as f64 * self.size * share
    }

    /// Returns the distance from the vertical centre of a line to its baseline, in CSS pixels.
    ///
    /// Programs disagree about the centre of a line, so that files give the baseline.
    pub fn baseline(self) -> f64 {
        self.size * 0.35
    }

    /// Shortens a text with an ellipsis to a width in CSS pixels.
    ///
    /// The result is empty if not even three letters and the ellipsis fit.
    pub fn fitted(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let room = (width / self.width("m")).floor() as usize;
        if room < 4 {
            return String::new();
        }
        text.chars().take(room - 1).chain(['…']).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A filled rectangle with rounded corners.
    Fill { rect: Rect, radius: f64, color: Color },
    /// Filled rectangles with sharp edges.
    Boxes { boxes: Vec<Rect>, color: Color },
    /// A filled polygon.
    Area { points: Vec<Point>, color: Color },
    /// A line through two or more points.
    Line {
        points: Vec<Point>,
        /// Thickness in CSS pixels.
        width: f64,
        color: Color,
        dashed: bool,
    },
    /// A text on one line.
    Text {
        /// Horizontal position of the end or middle that `align` names.
        x: f64,
        /// Vertical centre.
        y: f64,
        text: String,
        align: Align,
        font: Font,
        color: Color,
        /// Contour that keeps the text readable over bands.
        halo: Option<Color>,
    },
    /// A disc with a ring around it.
    Dot {
        /// Centre.
        at: Point,
        radius: f64,
        color: Color,
        /// Colour of the ring, which is [`RING`] wide.
        ring: Color,
    },
    /// A text that a viewer shows for an area under the pointer; where nothing points, it is ignored.
    Hint { rect: Rect, text: String },
    /// Limits the following operations to a rectangle, until the next [`Op::Unclip`].
    Clip(Rect),
    /// Ends the latest [`Op::Clip`].
    Unclip,
}

impl Op {
    pub fn line(points: impl Into<Vec<Point>>, width: f64, color: Color) -> Self {
        Self::Line { points: points.into(), width, color, dashed: false }
    }

    pub fn dashed(points: impl Into<Vec<Point>>, width: f64, color: Color) -> Self {
        Self::Line { points: points.into(), width, color, dashed: true }
    }

    /// Creates a text without a halo.
    pub fn text((x, y): Point, text: impl Into<String>, align: Align, font: Font, color: Color) -> Self {
        Self::Text { x, y, text: text.into(), align, font, color, halo: None }
    }

    /// Returns the area of a text, estimated by [`Font::width`]; `None` for all other operations.
    pub fn text_rect(&self) -> Option<Rect> {
        let Self::Text { x, y, text, align, font, .. } = self else { return None };
        let (width, height) = (font.width(text), font.size);
        let left = match align {
            Align::Left => *x,
            Align::Center => x - width / 2.0,
            Align::Right => x - width,
        };
        Some(Rect::new(left, y - height / 2.0, width, height))
    }

    #[must_use]
    pub fn lowered(mut self, by: f64) -> Self {
        match &mut self {
            Self::Fill { rect, .. } | Self::Hint { rect, .. } | Self::Clip(rect) => *rect = rect.lowered(by),
            Self::Boxes { boxes, .. } => boxes.iter_mut().for_each(|rect| *rect = rect.lowered(by)),
            Self::Area { points, .. } | Self::Line { points, .. } => points.iter_mut().for_each(|(_, y)| *y += by),
            Self::Text { y, .. } => *y += by,
            Self::Dot { at, .. } => at.1 += by,
            Self::Unclip => (),
        }
        self
    }
}

/// Returns the middle of a pixel, where a line one pixel wide is not smeared over two.
pub fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_to_the_room() {
        let fitted = |text, width| Font::LABEL.fitted(text, width);
        assert_eq!(fitted("forward", 200.0), "forward");
        let short = fitted("ProfilerStep#1234", 60.0);
        assert!(short.ends_with('…') && Font::LABEL.width(&short) <= 60.0, "{short}");
        assert_eq!(fitted("forward", 10.0), "");
    }

    #[test]
    fn a_text_lies_on_the_side_of_its_alignment() {
        let rect = |align| Op::text((50.0, 20.0), "word", align, Font::plain(10.0), Color::new(0)).text_rect().unwrap();
        let width = Font::plain(10.0).width("word");
        let lefts = [Align::Left, Align::Center, Align::Right].map(|align| rect(align).x);
        assert_eq!(lefts, [50.0, 50.0 - width / 2.0, 50.0 - width]);
        assert_eq!((rect(Align::Left).y, rect(Align::Left).height), (15.0, 10.0));
    }

    #[test]
    fn everything_can_be_moved_down() {
        let (rect, color) = (Rect::new(1.0, 2.0, 3.0, 4.0), Color::new(0));
        let below = Rect { y: 12.0, ..rect };
        let points = |y: f64| vec![(0.0, y), (5.0, y)];
        let hint = |rect| Op::Hint { rect, text: String::new() };
        let dot = |y| Op::Dot { at: (0.0, y), radius: 1.0, color, ring: color };
        let text = |y| Op::text((0.0, y), "t", Align::Left, Font::LABEL, color);
        for (before, after) in [
            (Op::Fill { rect, radius: 0.0, color }, Op::Fill { rect: below, radius: 0.0, color }),
            (Op::Boxes { boxes: vec![rect], color }, Op::Boxes { boxes: vec![below], color }),
            (Op::Area { points: points(2.0), color }, Op::Area { points: points(12.0), color }),
            (Op::line(points(2.0), 1.0, color), Op::line(points(12.0), 1.0, color)),
            (text(2.0), text(12.0)),
            (dot(2.0), dot(12.0)),
            (hint(rect), hint(below)),
            (Op::Clip(rect), Op::Clip(below)),
            (Op::Unclip, Op::Unclip),
        ] {
            assert_eq!(before.lowered(10.0), after);
        }
    }
}
