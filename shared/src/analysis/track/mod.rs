//! What was where and when: lifetimes, curves, the picture of the timeline, and what a recording lacks.
//!
//! Invariant: nothing here knows why memory is there.

pub(super) mod allocations;
pub(super) mod category;
pub(super) mod changes;
pub(super) mod clock;
pub(super) mod curve;
pub(super) mod endings;
pub(super) mod members;
pub(super) mod names;
pub(super) mod outline;
pub(super) mod pairing;
pub(super) mod peak;
pub(super) mod picture;
pub(super) mod recording;
pub(super) mod seams;
pub(super) mod seen;
pub(super) mod segments_at;
pub(super) mod spans;
pub(super) mod stack_title;
pub(super) mod summary;
pub(super) mod timeline;

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
