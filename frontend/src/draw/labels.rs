//! Texts over the plot, and the search for a free place for each.
//!
//! Texts are placed in order of importance, each next to what it names and clear of those before it. A text without a
//! free place is left out, but its mark stays.

use super::{
    axes::{axes, lifetime},
    camera::Camera,
    capacity::capacity,
    initial::InitialBands,
    lane::Lane,
    layout::{Layout, Rect},
    markers::{Marker, markers},
    overlay::Op,
    span::Span,
    theme::Theme,
};
use crate::worker::{Axis, View as Asked};

/// Places in the plot that are taken by texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    room: Rect,
    taken: Vec<Rect>,
}

impl Places {
    /// Creates an empty plot.
    pub fn new(room: Rect) -> Self {
        Self { room, taken: Vec::new() }
    }

    /// Returns the plot's area.
    pub fn room(&self) -> Rect {
        self.room
    }

    /// Takes the first of these places that is inside the plot and overlaps none that is taken.
    pub fn take(&mut self, places: impl IntoIterator<Item = Rect>) -> Option<Rect> {
        let found = places.into_iter().find(|place| self.is_free(place))?;
        self.taken.push(found);
        Some(found)
    }

    /// Takes the place of the first of these texts whose place is free.
    pub fn take_text(&mut self, texts: impl IntoIterator<Item = Op>) -> Option<Op> {
        let found = texts.into_iter().find(|text| text.text_rect().is_some_and(|place| self.is_free(&place)))?;
        self.taken.extend(found.text_rect());
        Some(found)
    }

    /// Marks a place as taken, even if it overlaps others.
    pub fn note(&mut self, place: Rect) {
        self.taken.push(place);
    }

    fn is_free(&self, place: &Rect) -> bool {
        self.room.covers(*place) && !self.taken.iter().any(|taken| taken.overlaps(*place))
    }
}

/// Labels of the view, except for those that follow the pointer.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    /// Quantity along x.
    pub axis: Axis,
    /// The rows of spans.
    pub lane: &'a Lane,
    /// Peak and out-of-memory errors.
    pub markers: &'a [Marker],
    /// Memory of the card.
    pub capacity_bytes: Option<u64>,
    /// Bands from before the trace, the request of their picture, and the text on them.
    pub initial: Option<(&'a InitialBands, &'a Asked, String)>,
    /// Lifetime of the pinned allocation.
    pub pin: Option<Span>,
}

impl Labels<'_> {
    /// Returns the operations that draw the labels.
    pub fn ops(&self, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
        let mut places = Places::new(layout.plot);
        let mut ops = axes(camera, layout, self.axis, theme, &mut places);
        ops.extend(self.lane.ops(camera, layout, theme));
        // What matters most is placed first and drawn last.
        let markers = markers(self.markers, camera, layout, theme, &mut places);
        let card = self.capacity_bytes.map(|bytes| capacity(bytes, camera, layout, theme, &mut places));
        let initial = self
            .initial
            .as_ref()
            .and_then(|(bands, asked, text)| bands.label(asked, text, camera, layout, theme, &mut places));
        ops.push(Op::Clip(layout.plot));
        ops.extend(initial);
        ops.push(Op::Unclip);
        ops.extend(self.pin.iter().flat_map(|&pin| lifetime(pin, camera, layout, theme)));
        ops.extend(card.into_iter().flatten());
        ops.extend(markers);
        ops
    }
}

#[cfg(test)]
mod tests;
