//! The rectangles of a picture, which are extended from slice to slice until they change.

use super::request::PictureRequest;
use super::tally::Tint;
use crate::analysis::track::allocations::AllocationId;

/// Memory that a rectangle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandOwner {
    Allocation(AllocationId),
    /// Group of neighbours in the stack that are too small to be drawn one by one, merged in place.
    Merged,
    /// All memory from before the trace.
    Initial,
    /// One of a few groups of allocations, wherever they are in the stack.
    Area,
}

/// Rectangle of the stack, in `0.0..=1.0` across the request's ranges.
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
    pub owner: BandOwner,
    /// Number to choose a colour by, the same for equal call stacks or categories; 0 for the initial band.
    ///
    /// A merged band has the number of the call stack or category with the largest part of its group, measured as bytes
    /// times lifetimes of the allocations in view.
    pub color: u32,
    /// True if allocations are selected and this memory is not.
    pub is_other: bool,
}

/// Rectangle that has begun and may go on, in bytes and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// Slice at whose left edge it begins.
    pub(super) since: u32,
    bottom: u64,
    top: u64,
}

impl Open {
    /// Empty rectangle.
    pub(super) const NOTHING: Self = Self { since: 0, bottom: 0, top: 0 };

    /// Creates a rectangle that begins at the left edge of the slice `since`.
    pub(super) fn new(since: u32, bottom: u64, top: u64) -> Self {
        Self { since, bottom, top }
    }
}

/// Finished rectangles of a picture.
///
/// Until [`Rungs::finish`](super::rungs::Rungs::finish), [`Band::color`] holds the index of the rung that gives the
/// band its colour.
#[derive(Debug)]
pub(super) struct Bands<'a> {
    edges: &'a [f32],
    y0: f64,
    y1: f64,
    pub(super) finished: Vec<Band>,
    /// Allocation whose band is kept even if it is too low to have a height.
    apart: Option<AllocationId>,
}

impl<'a> Bands<'a> {
    /// Creates an empty list; `edges` are the left edges of the slices and the right edge of the last.
    pub(super) fn new(edges: &'a [f32], request: &PictureRequest, apart: Option<AllocationId>) -> Self {
        Self { edges, y0: request.y0, y1: request.y1, finished: Vec::new(), apart }
    }

    /// Returns the height of the lower edge of the view, in bytes.
    pub(super) fn lowest_bytes(&self) -> u64 {
        self.y0.max(0.0) as u64
    }

    /// Returns true if memory on top of `bytes` is out of view.
    pub(super) fn is_above_view(&self, bytes: u64) -> bool {
        bytes as f64 >= self.y1
    }

    /// Continues `open` if `next` has the same height and position; otherwise finishes it and begins `next`.
    ///
    /// The colour of the finished band is that of the rung `tint`, which may still be unknown.
    pub(super) fn replace(&mut self, open: &mut Open, next: Open, owner: BandOwner, tint: u32) {
        if (open.bottom, open.top) != (next.bottom, next.top) {
            self.finish(*open, next.since, owner, tint);
            *open = next;
        }
    }

    /// Returns the finished bands in their colours; one that is partly selected becomes two.
    pub(super) fn tinted(self, tint_of: impl Fn(u32) -> Tint) -> Vec<Band> {
        let mut bands = self.finished;
        for index in 0..bands.len() {
            let band = bands[index];
            let Tint { color, own_share } = tint_of(band.color);
            let middle = band.y0 + (band.y1 - band.y0) * own_share;
            let (has_own, has_others) = (middle > band.y0 || own_share >= 1.0, middle < band.y1 && own_share < 1.0);
            // Memory from before the trace has no colour, unless it is selected.
            let is_plain = band.owner == BandOwner::Initial && (color == 0 || !has_own);
            let own_owner = if band.owner == BandOwner::Initial && !is_plain { BandOwner::Merged } else { band.owner };
            let other_color = if band.owner == BandOwner::Initial { 0 } else { color };
            let (own, other) = (
                Band { color: if is_plain { 0 } else { color }, owner: own_owner, ..band },
                Band { color: other_color, is_other: true, ..band },
            );
            bands[index] = if has_own { own } else { other };
            if has_own && has_others {
                bands[index].y1 = middle;
                bands.push(Band { y0: middle, ..other });
            }
        }
        bands
    }

    fn finish(&mut self, open: Open, end: u32, owner: BandOwner, tint: u32) {
        let (x0, x1) = (self.edges[open.since as usize], self.edges[end as usize]);
        let (y0, y1) = (self.y(open.bottom), self.y(open.top));
        let is_apart = || open.bottom < open.top && self.apart.map(BandOwner::Allocation) == Some(owner);
        if x0 < x1 && (y0 < y1 || is_apart()) {
            self.finished.push(Band { x0, x1, y0, y1, owner, color: tint, is_other: false });
        }
    }

    /// Converts bytes to a fraction of the request's range, clamped to `0.0..=1.0`.
    fn y(&self, bytes: u64) -> f32 {
        ((bytes as f64 - self.y0) / (self.y1 - self.y0)).clamp(0.0, 1.0) as f32
    }
}
