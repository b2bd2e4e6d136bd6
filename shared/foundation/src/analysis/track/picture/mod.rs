//! Draws a viewport of the timeline as rectangles.
//!
//! Idea: the view is cut into slices of at most a pixel ([`slices`]), and each slice shows the stack of live
//! allocations at the moment when it is highest.
//! Allocations of at least 1.25 pixels are bands of their own; smaller neighbours are merged in place into groups of a
//! few pixels, each in the colour of the call stack (or the category, see [`Coloring`]) with the largest part of it.
//! So every byte is drawn, the outline is exact, and the composition of the memory is visible at every zoom.
//! The groups follow from the trace and the scale of bytes alone ([`seams`](super::seams)).
//! A sweep from left to right removes the allocations that died between the moments of two slices, and adds those that
//! were born between them and survive ([`sweep`]).
//! If some allocations are selected ([`Emphasis`]), a group with both kinds is drawn in two parts, which divide its
//! height like its area, so that the selected bytes are neither hidden nor exaggerated at any zoom.
//! Groups of which little is left are joined ([`rungs`]), and a band grows from slice to slice until its position or
//! height changes ([`bands`]).
//!
//! ```text
//! alloc a 2, alloc b 1, alloc c 3, free b, free a        one byte a pixel: b is small
//!
//! bytes 6 |          c            bands, in moments and bytes
//!       5 |          c  c         a        1..5  0..2
//!       4 |          c  c         merged   2..4  2..3
//!       3 |       +  +  c  c      c        3..4  3..6
//!       2 |    a  a  a  a  c      c        4..5  2..5
//!       1 |    a  a  a  a  c      c        5..6  0..3
//! moment    0  1  2  3  4  5
//! ```
//!
//! A slice has at most 1.6 bands per pixel of height, plus five, because two neighbours together have at least 1.25
//! pixels.
//! Cost: a few instructions per birth and death in view, to find the allocations that survive to a slice's moment;
//! logarithmic time per survivor; and the bands that move.
//! Nothing is kept between pictures except what the timeline computes once ([`seams`](super::seams), [`seen`](super::seen)).

mod areas;
mod bands;
mod heights;
mod rungs;
mod slices;
mod sweep;
#[cfg(test)]
mod tests;

pub use areas::{AREAS, AreaBytes};
pub use bands::{Band, BandOwner, PictureRequest};
pub use slices::CurveStep;
pub use sweep::Emphasis;

use crate::analysis::track::category::Coloring;
use crate::analysis::track::timeline::Timeline;
use crate::trace::Device;
use slices::Slices;

/// Bands and outlines of a [`PictureRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Bands of the stack, which don't overlap, in no particular order.
    pub bands: Vec<Band>,
    /// Outline of the live bytes: the exact maximum of each slice.
    pub live: Vec<CurveStep>,
    /// Outline of the reserved bytes: the exact maximum of each slice.
    pub reserved: Vec<CurveStep>,
    /// Outline of the selected allocations' bytes, the exact maximum of each slice; empty if none are selected.
    pub own: Vec<CurveStep>,
}

impl Timeline {
    /// Draws a part of the timeline.
    ///
    /// The picture is empty if the request has no extent or lies beyond the trace.
    pub fn picture(&self, device: &Device, request: &PictureRequest) -> Picture {
        self.picture_emphasizing(device, request, Coloring::Stack, Emphasis::default())
    }

    /// Draws a part of the timeline with colours that may show another property than stacks, and in which some
    /// allocations may be set apart from the others.
    ///
    /// # Panics
    /// May panic if `coloring` or `emphasis` belongs to another timeline.
    pub fn picture_emphasizing(
        &self,
        device: &Device,
        request: &PictureRequest,
        coloring: Coloring<'_>,
        emphasis: Emphasis<'_>,
    ) -> Picture {
        let slices = Slices::new(self, device, request);
        let own_bytes = emphasis.members.map(|members| slices.own_bytes(self, device, request, members));
        Picture {
            bands: sweep::bands(self, device, request, &slices, (coloring, emphasis)),
            live: slices.outline(&slices.live_bytes),
            reserved: slices.outline(&slices.reserved_bytes),
            own: own_bytes.map_or_else(Vec::new, |bytes| slices.outline(&bytes)),
        }
    }
}
