//! What a viewport of the timeline shows, as rectangles.
//!
//! Idea: cut the view into slices of at most a pixel ([`slices`]) and draw in each the stack at its highest moment.
//! Allocations of more than a pixel are bands of their own; smaller neighbours are merged into groups of a few pixels
//! at their place, each with the colour of the stack (or the category, see [`Coloring`]) that most of it is of, so that
//! every byte is drawn, the outline is exact and the stack shows what it is made of at every zoom.
//! What makes a group follows from the trace and the scale of bytes alone ([`seams`]).
//! A sweep from left to right changes the stack by what was born or died between the moments of two slices and survives
//! ([`sweep`]), joins groups of which little is left, and a band grows from slice to slice until its place or height
//! changes ([`rungs`], [`bands`]).
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
//! A slice has at most 1.6 bands a pixel of height, and five more.
//! Cost: a few instructions per birth and death in view, which only finds what survives to a slice's moment;
//! logarithmic for each survivor; and the bands that move.
//! Nothing is kept between pictures.

mod at_least;
mod bands;
mod heights;
mod rungs;
mod scale;
mod seams;
mod seen;
mod slices;
mod sweep;
mod tally;
#[cfg(test)]
mod tests;

use super::{AllocationId, Coloring, Timeline};
use crate::trace::Device;
pub(super) use seams::Seams;
pub(super) use seen::Seen;
use slices::Slices;
pub(super) use slices::moment_shown_at;

/// What runs along the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Moments: the state at moment `m` (after event `m - 1`) covers `m..m + 1`.
    #[default]
    Events,
    /// Microseconds since the first event that has a time.
    Time,
}

crate::names!(Axis {
    Events => "events",
    Time => "time",
});

/// A part of the timeline and the pixels that it is drawn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureRequest {
    /// The unit of `x0` and `x1`.
    pub axis: Axis,
    /// Left edge, in units of the axis.
    pub x0: f64,
    /// Right edge, in units of the axis.
    pub x1: f64,
    /// Bottom edge in bytes.
    pub y0: f64,
    /// Top edge in bytes.
    pub y1: f64,
    /// Device pixels between `x0` and `x1`.
    pub width_px: u32,
    /// Device pixels between `y0` and `y1`; with 0 of them a picture is its outlines only.
    pub height_px: u32,
}

/// What a rectangle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandOwner {
    /// One allocation.
    Allocation(AllocationId),
    /// A group of neighbours in the stack that are too small to be drawn one by one, merged at their place.
    Merged,
    /// Everything from before the trace.
    Initial,
}

/// One rectangle of the stack, `0.0..=1.0` across the request's ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Left edge.
    pub x0: f32,
    /// Right edge.
    pub x1: f32,
    /// Lower edge.
    pub y0: f32,
    /// Upper edge.
    pub y1: f32,
    /// What it stands for.
    pub owner: BandOwner,
    /// A number that is the same for the same stack or category, to choose a colour by; 0 for the initial band.
    ///
    /// A merged band has that of the stack or category with most of its group, as bytes times lifetimes of what is in view.
    pub color: u32,
}

/// One step of an outline: from `x` on (`0.0..=1.0` across the request) the curve is at `bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveStep {
    /// Where the step begins.
    pub x: f32,
    /// The height of the step.
    pub bytes: u64,
}

/// The bands, the outline and the reserved line of a [`PictureRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The stack, in no particular order; bands don't overlap.
    pub bands: Vec<Band>,
    /// The live bytes: the exact maximum of each pixel column.
    pub live: Vec<CurveStep>,
    /// The reserved bytes: the exact maximum of each pixel column.
    pub reserved: Vec<CurveStep>,
}

/// Draws a part of a timeline.
pub(super) fn picture(
    timeline: &Timeline,
    device: &Device,
    request: &PictureRequest,
    coloring: Coloring<'_>,
) -> Picture {
    let slices = Slices::new(timeline, device, request);
    let end = slices.edges.last().copied().unwrap_or_default();
    Picture {
        bands: sweep::bands(timeline, device, request, &slices, coloring),
        live: outline(&slices.edges, &slices.live_bytes, end),
        reserved: outline(&slices.edges, &slices.reserved_bytes, end),
    }
}

/// A step wherever the bytes of a slice differ from those before, and one down to 0 where the trace ends in view.
fn outline(edges: &[f32], slice_bytes: &[u64], end: f32) -> Vec<CurveStep> {
    let mut steps: Vec<CurveStep> = Vec::new();
    let past_the_end = (end < 1.0 && !slice_bytes.is_empty()).then_some((&end, &0));
    for (&x, &bytes) in edges.iter().zip(slice_bytes).chain(past_the_end) {
        if steps.last().is_none_or(|step| step.bytes != bytes) {
            steps.push(CurveStep { x, bytes });
        }
    }
    steps
}
