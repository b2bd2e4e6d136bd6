//! What a trace says: lifetimes, curves, peaks and the picture of the timeline.

mod size_limit;

mod allocations;
mod pairing;

mod changes;
mod clock;
mod curve;

mod colors;
#[cfg(test)]
mod naive;
mod picture;
mod timeline;

mod distinct;
mod categories;
mod period;
mod phases;
mod steps;
mod outline;
mod peak;
mod recording;
mod spans;
mod summary;

pub use allocations::{Allocation, AllocationId, Allocations, Origin};
pub use distinct::DistinctStacks;
pub use outline::Outline;
pub use peak::{StackBytes, live_by_stack};
pub use picture::{Axis, Band, BandOwner, CurveStep, Picture, PictureRequest};
pub use recording::recording_diagnostics;
pub use categories::{Category, categories};
pub use phases::{Phase, Phases};
pub use steps::{Step, StepSource, Steps};
pub use spans::{Span, spans};
pub use summary::Summary;
pub use timeline::{Hit, Timeline};
