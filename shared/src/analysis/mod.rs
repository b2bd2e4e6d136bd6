//! What a trace says: lifetimes, curves, peaks and the picture of the timeline.

mod allocations;
mod pairing;
mod picture;
mod size_limit;
mod timeline;

pub use allocations::{Allocation, AllocationId, Allocations, Origin};
pub use picture::{Axis, Band, BandOwner, CurveStep, Picture, PictureRequest};
pub use timeline::{Hit, Timeline};
