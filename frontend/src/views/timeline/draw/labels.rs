//! Texts over the plot, and the search for a free place for each.
//!
//! Texts are placed in order of importance, each next to what it names and clear of those before it. A text without a
//! free place is left out, but its mark stays.

use super::axes::{axes, lifetime};
use super::capacity::capacity;
use super::flags::{Placed, flags};
use super::initial::InitialBands;
use super::lane::Lane;
use super::markers::{Marker, markers};
use super::places::Places;
use crate::ask::{Axis, View as Asked};
use crate::draw::camera::Camera;
use crate::draw::layout::Layout;
use crate::draw::op::Op;
use crate::draw::span::Span;
use crate::draw::theme::Theme;

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
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: &'a [Placed],
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
        ops.extend(flags(self.flags, camera, layout, theme, &mut places));
        ops.extend(card.into_iter().flatten());
        ops.extend(markers);
        ops
    }
}

#[cfg(test)]
mod tests;
