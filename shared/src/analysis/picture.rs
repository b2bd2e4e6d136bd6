//! What a viewport of the timeline shows, as rectangles.

use super::AllocationId;

/// What runs along the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Moments: the state at moment `m` (after event `m - 1`) covers `m..m + 1`.
    #[default]
    Events,
    /// Microseconds since the first event that has a time.
    Time,
}

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
    /// Device pixels between `y0` and `y1`.
    pub height_px: u32,
}

/// What a rectangle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandOwner {
    /// One allocation.
    Allocation(AllocationId),
    /// Neighbours in the stack that are too small to be drawn one by one, merged at their place.
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
    /// A number that is the same for the same stack, to choose a colour by; 0 for merged and initial bands.
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
