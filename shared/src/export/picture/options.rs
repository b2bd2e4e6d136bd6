//! What a picture shows, and its size.

use crate::analysis::Axis;
use crate::draw::span::Span;

/// Content and size of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// Heading of the picture.
    pub title: String,
    /// Unit of the x axis; a trace without times is drawn by events.
    pub axis: Axis,
    /// Part of the axis to show; `None` for all of it.
    pub x: Option<Span>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Desired maximum number of bands; if there are more, neighbours are merged to keep files small.
    pub most_bands: usize,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { title: String::new(), axis: Axis::Events, x: None, width: 1200, height: 600, most_bands: 20_000 }
    }
}

/// Content and size of a picture of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentOptions {
    /// Heading of the picture.
    pub title: String,
    /// Moment to show, where `n` is the state after event `n - 1`; `None` for the peak.
    pub moment: Option<u32>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels; `None` for as much as the content needs.
    pub height: Option<u32>,
}

impl Default for MomentOptions {
    fn default() -> Self {
        Self { title: String::new(), moment: None, width: 1200, height: None }
    }
}
