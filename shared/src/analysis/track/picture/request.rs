//! Requests for pictures.

use crate::analysis::track::axis::Axis;
use serde::{Deserialize, Serialize};

/// Part of the timeline, and the pixels that it is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PictureRequest {
    /// Unit of `x0` and `x1`.
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
    /// Device pixels between `y0` and `y1`; with 0, the picture has only its outlines.
    pub height_px: u32,
}
