//! Defines the shapes of a picture and their colours.

use crate::draw::{color::Color, shade, shade::ColorBy, theme::Theme};

/// Position in pixels from the left and from the top.
pub(super) type Place = (f64, f64);

/// Picture as shapes, the lowest one first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    pub title: String,
    pub shapes: Vec<Shape>,
}

/// One or more shapes of one colour.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Rectangles: left, top, width and height.
    Boxes { ink: Ink, boxes: Vec<[f64; 4]> },
    /// Line through a list of positions.
    Line {
        ink: Ink,
        /// Width in pixels.
        width: f64,
        places: Vec<Place>,
    },
    /// Filled circle.
    Dot {
        ink: Ink,
        at: Place,
        /// Radius in pixels.
        radius: f64,
    },
    /// Line of text.
    Text {
        ink: Ink,
        /// Position of the anchor on the baseline.
        at: Place,
        anchor: Anchor,
        /// Font size in pixels.
        size: f64,
        /// True for a heavier font.
        is_strong: bool,
        words: String,
    },
}

/// Part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Colour by its meaning, in the light and the dark theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ink {
    Background,
    /// Lines of the ticks.
    Grid,
    /// Memory from before the trace.
    Initial,
    /// Merged allocations, by their colour number.
    Merged(u32),
    /// Single allocation, by its colour number.
    Band(u32),
    /// Lower edges of allocations.
    Separator,
    /// Curve of the live bytes.
    Live,
    /// Curve of the reserved bytes.
    Reserved,
    Peak,
    /// Out-of-memory event.
    Oom,
    /// Annotated span, by its depth.
    Span(u32),
    /// Text on a span.
    SpanText,
    /// Small, lost or remaining memory.
    Rest,
    /// Free memory of a segment.
    Free,
    /// Outline of a segment.
    Edge,
    /// Text on an allocation with this colour number.
    OnBand(u32),
    /// Text on [`Self::Initial`].
    OnInitial,
    /// Text on [`Self::Rest`].
    OnRest,
    Text,
    /// Less important text.
    Muted,
}

/// Number of different colours of bands; higher colour numbers repeat them.
pub(super) const BAND_COLORS: u32 = crate::draw::theme::HUES as u32 * shade::SHADES;

impl Ink {
    /// Returns the colour in a theme.
    pub fn color(self, theme: &Theme) -> Color {
        match self {
            Self::Background => theme.background,
            Self::Grid => theme.grid,
            Self::Initial => theme.initial,
            Self::Merged(number) => shade::merged_fill(number, ColorBy::Stack, theme),
            Self::Band(number) => shade::fill(number, ColorBy::Stack, theme),
            Self::Separator => theme.separator,
            Self::Live => theme.live,
            Self::Reserved => theme.reserved,
            Self::Peak => theme.peak,
            Self::Oom => theme.oom,
            Self::Span(depth) => theme.spans[depth as usize % theme.spans.len()],
            Self::SpanText => theme.span_text,
            Self::Rest => theme.merged,
            Self::Free => theme.initial.with_alpha(0.55),
            Self::Edge => theme.text_muted.with_alpha(0.7),
            Self::OnBand(number) => Self::Band(number).color(theme).text_on(),
            Self::OnInitial => theme.initial.text_on(),
            Self::OnRest => theme.merged.text_on(),
            Self::Text => theme.text,
            Self::Muted => theme.text_muted,
        }
    }
}
