//! Defines requests for pictures, and extends their rectangles from slice to slice until they change.
//!
//! A request determines from how many bytes on allocations and groups are drawn. A group has a colour, and the share of
//! selected allocations in it.

use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::timeline::Axis;
use crate::base::ShortSort;
use serde::{Deserialize, Serialize};

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
    pub x0: f32,
    pub x1: f32,
    pub y0: f32,
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
    pub(super) const NOTHING: Self = Self { since: 0, bottom: 0, top: 0 };

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

/// Part of the timeline, and the pixels that it is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PictureRequest {
    /// Unit of `x0` and `x1`.
    pub axis: Axis,
    pub x0: f64,
    pub x1: f64,
    /// Bottom edge in bytes.
    pub y0: f64,
    /// Top edge in bytes.
    pub y1: f64,
    /// Device pixels between `x0` and `x1`.
    pub width_px: u32,
    /// Device pixels between `y0` and `y1`; with 0, the picture has only its outlines.
    pub height_px: u32,
}

/// Minimum height of an allocation that is a band of its own, in pixels.
///
/// Two neighbours together are at least this high, so that there are at most 2 / 1.25 = 1.6 bands per pixel.
const BAND_PX: f64 = 1.25;

/// Sizes from which allocations and groups are drawn by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Size of the smallest allocation that is a band of its own: 1.25 pixels.
    pub(super) large_bytes: u64,
}

impl Scale {
    /// Computes the scale of a request, whose height must not be 0.
    pub(super) fn new(request: &PictureRequest) -> Self {
        let bytes_per_px = (request.y1 - request.y0) / f64::from(request.height_px);
        Self { large_bytes: ((BAND_PX * bytes_per_px).ceil() as u64).max(1) }
    }

    /// Returns the maximum size of a group of small allocations, as a power of two: 2.5 to 5 pixels.
    ///
    /// It is at least twice the smallest large allocation, so that one small allocation never fills 1/2 of a group.
    pub(super) fn group_bits(self) -> u8 {
        (u64::BITS - (self.large_bytes - 1).leading_zeros() + 1) as u8
    }

    /// Returns the size up to which two neighbouring groups together are joined: 1/2 of a full group.
    ///
    /// It is no less than the smallest large allocation, so that neighbours that stay apart are together as high.
    pub(super) fn join_bytes(self) -> u64 {
        1_u64.checked_shl(u32::from(self.group_bits()) - 1).unwrap_or(u64::MAX)
    }
}

/// Area of each colour in a growing group, in bytes times moments.
///
/// By bytes alone, members that die at once would weigh as much as those that live long, and panning past them would
/// change the colour.
#[derive(Debug, Default)]
pub(super) struct Tally {
    own: Vec<(u32, u128)>,
    others: Vec<(u32, u128)>,
}

/// Colour of a group, and the share of its area that selected allocations cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tint {
    pub(super) color: u32,
    /// In `0.0..=1.0`; 1 if nothing is selected.
    pub(super) own_share: f32,
}

impl Tint {
    /// Colour of a rung that is not yet known.
    pub(super) const UNKNOWN: Self = Self { color: 0, own_share: 1.0 };

    /// Returns the colour of a single allocation.
    pub(super) fn single(color: u32, is_own: bool) -> Self {
        Self { color, own_share: if is_own { 1.0 } else { 0.0 } }
    }
}

impl Tally {
    /// Adds an allocation; `is_own` is false for one that is not selected while others are.
    pub(super) fn add(&mut self, color: u32, area: u128, is_own: bool) {
        let areas = if is_own { &mut self.own } else { &mut self.others };
        match areas.last_mut() {
            Some((last, sum)) if *last == color => *sum += area,
            _ => areas.push((color, area)),
        }
    }

    /// Returns the colour with the largest area among the selected allocations, or else among the others, and clears
    /// the tally.
    ///
    /// It is 0 without allocations.
    /// Of colours with equal areas, the one with the smallest number is returned.
    pub(super) fn take(&mut self) -> Tint {
        let (own, others) = (most(&mut self.own), most(&mut self.others));
        match (own, others) {
            (Some((color, _)), None) => Tint { color, own_share: 1.0 },
            (Some((color, own)), Some((_, others))) => {
                Tint { color, own_share: (own as f64 / (own as f64 + others as f64).max(1.0)) as f32 }
            }
            (None, Some((color, _))) => Tint { color, own_share: 0.0 },
            (None, None) => Tint::UNKNOWN,
        }
    }
}

/// Returns the colour with the largest area, and the sum of all areas; clears the list.
fn most(areas: &mut Vec<(u32, u128)>) -> Option<(u32, u128)> {
    areas.short_sort_by_key(|&(color, _)| color);
    let (mut most, mut sum) = (None, 0_u128);
    for colors in areas.chunk_by(|a, b| a.0 == b.0) {
        let area = colors.iter().map(|&(_, area)| area).sum::<u128>();
        sum += area;
        if most.is_none_or(|(_, other)| area > other) {
            most = Some((colors[0].0, area));
        }
    }
    areas.clear();
    most.map(|(color, _)| (color, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_two_large_allocations_or_more() {
        for large_bytes in [1, 2, 3, 4, 5, 1000, 1024, 1025, 1 << 40, (1 << 62) + 1] {
            let scale = Scale { large_bytes };
            let group = 1_u128 << scale.group_bits();
            let large = u128::from(large_bytes);
            assert!(2 * large <= group && group < 4 * large.max(1), "{large_bytes} and {group}");
            assert_eq!(u128::from(scale.join_bytes()), group / 2);
        }
        assert_eq!(Scale { large_bytes: u64::MAX }.join_bytes(), u64::MAX);
    }

    #[test]
    fn the_color_of_the_largest_area_wins() {
        let mut tally = Tally::default();
        assert_eq!(tally.take(), Tint::UNKNOWN);
        for (color, area) in [(7, 2), (3, 3), (7, 2), (3, 0), (9, 1)] {
            tally.add(color, area, true);
        }
        assert_eq!(tally.take(), Tint { color: 7, own_share: 1.0 });
        [(8, 1), (2, 1)].into_iter().for_each(|(color, area)| tally.add(color, area, true));
        assert_eq!(tally.take().color, 2);
    }

    #[test]
    fn selected_allocations_give_the_color() {
        let mut tally = Tally::default();
        [(7, 30), (5, 6)].into_iter().for_each(|(color, area)| tally.add(color, area, false));
        tally.add(4, 12, true);
        assert_eq!(tally.take(), Tint { color: 4, own_share: 0.25 });
        tally.add(7, 1, false);
        assert_eq!(tally.take(), Tint { color: 7, own_share: 0.0 });
    }
}
