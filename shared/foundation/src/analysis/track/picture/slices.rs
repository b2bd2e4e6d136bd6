//! Cuts a picture into vertical slices and finds the moment that each one shows.
//!
//! Idea: slices lie on a grid of 2^k events or microseconds that doesn't depend on the view's edges, so that panning
//! shows the same slices again and nothing flickers.
//! A slice is at least 1/2 pixel wide and at most one; if an event or microsecond is wider than a pixel, a slice is as
//! wide as that.
//! A slice shows the moment with its highest live bytes, so that no peak is lost at any zoom.
//!
//! ```text
//! moments  0 1 2 3 4 5 6 7 8      view 1.5..7.5 of 3 pixels: k = 1
//! live     0 1 3 2 2 4 2 5 5      slices 0..2, 2..4, 4..6, 6..8 show moments 1, 2, 5, 7
//! ```
//!
//! Cost: two range maxima per slice, at most two slices per pixel.

use super::bands::PictureRequest;
use crate::analysis::track::members::Members;
use crate::analysis::track::timeline::{Axis, Timeline};
use crate::trace::Device;
use std::ops::Range;

/// Maximum width in pixels; no screen or canvas is wider, and more slices would only cost memory.
const MAX_WIDTH_PX: u32 = 1 << 15;

/// Step of an outline: from `x` on (`0.0..=1.0` across the request) the curve is at `bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveStep {
    pub x: f32,
    pub bytes: u64,
}

/// Slices of a picture from left to right, without gaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slices {
    /// Left edges of the slices across the request, in `0.0..=1.0`, and the right edge of the last.
    pub(super) edges: Vec<f32>,
    /// Moment that each slice shows: its first one with the highest live bytes.
    pub(super) shown: Vec<u32>,
    /// Live bytes at the moment that each slice shows.
    pub(super) live_bytes: Vec<u64>,
    /// Highest reserved bytes of each slice.
    pub(super) reserved_bytes: Vec<u64>,
    /// Slices are `1 << bits` events or microseconds wide.
    pub(super) bits: u32,
}

/// Grid on an axis, whose slices are `1 << bits` events or microseconds wide.
struct Grid<'a> {
    timeline: &'a Timeline,
    device: &'a Device,
    axis: Axis,
    bits: u32,
}

impl Timeline {
    /// Returns the moment that a picture shows at a position of its axis; a pixel is `units_per_px` wide.
    ///
    /// A picture draws the highest of several moments, and a hit under the pointer should refer to that one.
    pub fn moment_shown_at(&self, device: &Device, axis: Axis, x: f64, units_per_px: f64) -> u32 {
        let axis = self.effective_axis(axis);
        let grid = Grid::new(self, device, axis, units_per_px);
        let last = (self.x_end(axis).ceil() as u64 - 1) >> grid.bits;
        let slice = (x.max(0.0) as u64 >> grid.bits).min(last);
        self.live_max_in(grid.moments(slice)).0
    }
}

impl Slices {
    /// Cuts a request into slices; there are none if it shows no part of the trace.
    pub(super) fn new(timeline: &Timeline, device: &Device, request: &PictureRequest) -> Self {
        let axis = timeline.effective_axis(request.axis);
        let x_end = timeline.x_end(axis);
        let width = request.x1 - request.x0;
        if !(request.x0 < x_end && request.x1 > 0.0 && width.is_finite() && width > 0.0 && request.width_px > 0) {
            return Self::default();
        }
        let units_per_px = width / f64::from(request.width_px.min(MAX_WIDTH_PX));
        let grid = Grid::new(timeline, device, axis, units_per_px);
        let bits = grid.bits;
        let first = request.x0.max(0.0) as u64 >> bits;
        let end = ((request.x1.min(x_end).ceil() as u64 - 1) >> bits) + 1;

        let edge = |x: f64| (((x - request.x0) / width).clamp(0.0, 1.0)) as f32;
        let mut slices = Self { bits, ..Self::default() };
        for slice in first..end {
            let moments = grid.moments(slice);
            let (shown, live_bytes) = timeline.live_max_in(moments.clone());
            slices.edges.push(edge((slice << bits) as f64));
            slices.shown.push(shown);
            slices.live_bytes.push(live_bytes);
            slices.reserved_bytes.push(timeline.reserved_max_in(moments).1);
        }
        slices.edges.push(edge(((end << bits) as f64).min(x_end)));
        slices
    }

    /// Returns the highest bytes of some allocations in each slice; `self` must be the slices of the request.
    pub(super) fn own_bytes(
        &self,
        timeline: &Timeline,
        device: &Device,
        request: &PictureRequest,
        members: &Members,
    ) -> Vec<u64> {
        let axis = timeline.effective_axis(request.axis);
        let grid = Grid { timeline, device, axis, bits: self.bits };
        let first = request.x0.max(0.0) as u64 >> self.bits;
        (first..first + self.len() as u64).map(|slice| members.max_in(grid.moments(slice)).1).collect()
    }

    /// Returns a step wherever the bytes of a slice differ from those before.
    ///
    /// If the trace ends in view, the last step goes down to 0.
    pub(super) fn outline(&self, slice_bytes: &[u64]) -> Vec<CurveStep> {
        let mut steps: Vec<CurveStep> = Vec::new();
        let end = self.edges.last().filter(|&&end| end < 1.0 && !slice_bytes.is_empty());
        for (&x, &bytes) in self.edges.iter().zip(slice_bytes).chain(end.map(|end| (end, &0))) {
            if steps.last().is_none_or(|step| step.bytes != bytes) {
                steps.push(CurveStep { x, bytes });
            }
        }
        steps
    }

    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }
}

impl<'a> Grid<'a> {
    fn new(timeline: &'a Timeline, device: &'a Device, axis: Axis, units_per_px: f64) -> Self {
        // Panning changes the scale by rounding errors, which must not change the grid.
        let bits = ((units_per_px.max(1.0).log2() + 1e-6).floor() as u32).min(62);
        Self { timeline, device, axis, bits }
    }

    /// Returns the moments that hold at any time of a slice, including those without duration.
    fn moments(&self, slice: u64) -> Range<u32> {
        let (start, end) = (slice << self.bits, (slice + 1) << self.bits);
        match self.axis {
            Axis::Events => start as u32..end.min(u64::from(u32::MAX)) as u32,
            Axis::Time if start == 0 => 0..self.moment_at(end - 1) + 1,
            Axis::Time => {
                let ongoing = self.moment_at(start - 1);
                let at_start = self.moment_at(start);
                at_start.min(ongoing + 1)..self.moment_at(end - 1) + 1
            }
        }
    }

    fn moment_at(&self, time_us: u64) -> u32 {
        self.timeline.moment_at_us(self.device, time_us as i64)
    }
}
