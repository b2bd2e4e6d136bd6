//! What a picture is made of.

use crate::draw::{color::Color, shade, shade::ColorBy, theme::Theme};

/// A place in pixels from the left and from the top.
pub(super) type Place = (f64, f64);

/// A picture as shapes, the first one at the bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// What it is of.
    pub title: String,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

/// One or many shapes of one colour.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Rectangles: left, top, width and height.
    Boxes {
        /// Their colour.
        ink: Ink,
        /// The rectangles.
        boxes: Vec<[f64; 4]>,
    },
    /// A line along places.
    Line {
        /// Its colour.
        ink: Ink,
        /// Its width in pixels.
        width: f64,
        /// The places.
        places: Vec<Place>,
    },
    /// A disc.
    Dot {
        /// Its colour.
        ink: Ink,
        /// Its middle.
        at: Place,
        /// Its radius in pixels.
        radius: f64,
    },
    /// A line of text.
    Text {
        /// Its colour.
        ink: Ink,
        /// Where its letters stand.
        at: Place,
        /// What of it is there.
        anchor: Anchor,
        /// The size of its letters in pixels.
        size: f64,
        /// Whether it is heavier than others.
        is_strong: bool,
        /// The text.
        words: String,
    },
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A colour by what it stands for, light and dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ink {
    /// Behind everything.
    Background,
    /// Lines of ticks.
    Grid,
    /// What is from before the trace.
    Initial,
    /// Merged allocations, by the number of their colour.
    Merged(u32),
    /// An allocation, by the number of its colour.
    Band(u32),
    /// The lower edges of allocations.
    Separator,
    /// The live bytes.
    Live,
    /// The reserved bytes.
    Reserved,
    /// The peak.
    Peak,
    /// Running out of memory.
    Oom,
    /// A span, by its depth.
    Span(u32),
    /// Text on a span.
    SpanText,
    /// What is small, lost or left over.
    Rest,
    /// Free memory of a segment.
    Free,
    /// Around a segment.
    Edge,
    /// Text on the colour of an allocation with this number.
    OnBand(u32),
    /// Text on what is from before the trace.
    OnInitial,
    /// Text on what is small.
    OnRest,
    /// Text.
    Text,
    /// Text that matters less.
    Muted,
}

/// Numbers from here on repeat the colours of bands.
pub(super) const BAND_COLORS: u32 = crate::draw::theme::HUES as u32 * shade::SHADES;

impl Ink {
    /// The colour in a theme.
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
