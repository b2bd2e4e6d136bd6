//! Operations for text, lines and marks, which all drawings consist of.

use super::color::Color;
use super::layout::Rect;

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

/// Weight and size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// Font of axis labels.
    Label,
    /// Font of important marks.
    Strong,
}

impl Font {
    /// Returns the height in CSS pixels.
    pub fn size(self) -> f64 {
        match self {
            Self::Label => 11.0,
            Self::Strong => 11.5,
        }
    }

    /// Returns an estimated width in CSS pixels that the text hardly exceeds; it does not need a browser.
    pub fn width(self, text: &str) -> f64 {
        let share = match self {
            Self::Label => 0.56,
            Self::Strong => 0.60,
        };
        text.chars().count() as f64 * self.size() * share
    }
}

/// One drawing operation, in CSS pixels of the element.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A filled rectangle with rounded corners.
    Fill {
        rect: Rect,
        /// Radius of the corners.
        radius: f64,
        color: Color,
    },
    /// A straight line.
    Line {
        from: (f64, f64),
        to: (f64, f64),
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
        at: (f64, f64),
        /// Radius of the disc, in CSS pixels.
        radius: f64,
        /// Colour of the disc.
        color: Color,
        /// Colour of the ring.
        ring: Color,
    },
    /// Limits the following operations to a rectangle, until the next [`Op::Unclip`].
    Clip(Rect),
    /// Ends the latest [`Op::Clip`].
    Unclip,
}

impl Op {
    /// Returns the area of a text, estimated by [`Font::width`]; `None` for all other operations.
    pub fn text_rect(&self) -> Option<Rect> {
        let Self::Text { x, y, text, align, font, .. } = self else { return None };
        let (width, height) = (font.width(text), font.size());
        let left = match align {
            Align::Left => *x,
            Align::Center => x - width / 2.0,
            Align::Right => x - width,
        };
        Some(Rect { x: left, y: y - height / 2.0, width, height })
    }
}

/// Returns the middle of a pixel, where a line one pixel wide is not smeared over two.
pub fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

/// Shortens a text with an ellipsis to a width in CSS pixels.
///
/// The result is empty if not even three letters and the ellipsis fit.
pub fn fitted(text: &str, font: Font, width: f64) -> String {
    if font.width(text) <= width {
        return text.to_owned();
    }
    let letter = font.width("m");
    let room = (width / letter).floor() as usize;
    if room < 4 {
        return String::new();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_to_the_room() {
        assert_eq!(fitted("forward", Font::Label, 200.0), "forward");
        let short = fitted("ProfilerStep#1234", Font::Label, 60.0);
        assert!(short.ends_with('…') && Font::Label.width(&short) <= 60.0, "{short}");
        assert_eq!(fitted("forward", Font::Label, 10.0), "");
    }
}
