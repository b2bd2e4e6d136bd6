//! What was where and when: lifetimes, curves, the picture of the timeline, and what a recording lacks.
//!
//! Invariant: nothing here knows why memory is there.

pub mod allocations;
pub mod category;
pub mod changes;
pub mod clock;
pub mod curve;
pub mod endings;
pub mod members;
pub mod names;
pub mod outline;
pub mod pairing;
pub mod peak;
pub mod picture;
pub mod recording;
pub mod seams;
pub mod seen;
pub mod segments_at;
pub mod spans;
pub mod stack_title;
pub mod summary;
pub mod timeline;

pub use allocations::{Allocation, AllocationId, AllocationKey, Allocations, Origin};
pub use category::{Category, Coloring};
pub use changes::DistinctStacks;
pub use members::Members;
pub use names::{Name, Names, StatedHolder, stated_holder, without_names};
pub use outline::Outline;
pub use peak::{StackBytes, live_by_stack};
pub use picture::{AREAS, AreaBytes, Band, BandOwner, CurveStep, Emphasis, Picture, PictureRequest};
pub use recording::{device_diagnostics, file_diagnostics, recording_diagnostics};
pub use segments_at::SegmentAt;
pub use spans::{Span, spans};
pub use stack_title::{former_title, own_place, place, stack_callers, stack_label, stack_labels, stack_title};
pub use summary::Summary;
pub use timeline::{Axis, Hit, Timeline};
