//! The operations that text, lines and marks over the plot are made of.

use super::{color::Color, layout::Rect};

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The place is its left end.
    Left,
    /// The place is its middle.
    Center,
    /// The place is its right end.
    Right,
}

/// Weight and size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// Axis labels.
    Label,
    /// Marks that matter.
    Strong,
}

impl Font {
    /// Height in CSS pixels.
    pub fn size(self) -> f64 {
        match self {
            Self::Label => 11.0,
            Self::Strong => 11.5,
        }
    }

    /// A width that the text does not exceed by much, in CSS pixels; no browser is asked.
    pub fn width(self, text: &str) -> f64 {
        let share = match self {
            Self::Label => 0.56,
            Self::Strong => 0.60,
        };
        text.chars().count() as f64 * self.size() * share
    }
}

/// One operation, in CSS pixels of the element.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A filled rectangle with rounded corners.
    Fill {
        /// Where.
        rect: Rect,
        /// Radius of the corners.
        radius: f64,
        /// The colour.
        color: Color,
    },
    /// A straight line.
    Line {
        /// One end.
        from: (f64, f64),
        /// The other end.
        to: (f64, f64),
        /// Thickness.
        width: f64,
        /// The colour.
        color: Color,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A text on one line, upright centre at `y`.
    Text {
        /// The place.
        x: f64,
        /// The vertical centre.
        y: f64,
        /// The text.
        text: String,
        /// Which end `x` is.
        align: Align,
        /// Weight and size.
        font: Font,
        /// The colour.
        color: Color,
        /// A contour that keeps it readable over bands.
        halo: Option<Color>,
    },
    /// A disc with a ring around it.
    Dot {
        /// The centre.
        at: (f64, f64),
        /// Radius of the disc.
        radius: f64,
        /// The disc.
        color: Color,
        /// The ring.
        ring: Color,
    },
    /// Limits what follows to a rectangle, until the next [`Op::Unclip`].
    Clip(Rect),
    /// Ends [`Op::Clip`].
    Unclip,
}

impl Op {
    /// The place of a text by [`Font::width`]; `None` for whatever else.
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

/// The middle of a pixel: a line of one pixel there is not smeared over two.
pub fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

/// A text shortened with an ellipsis to a width in CSS pixels; empty if not even three letters fit.
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
