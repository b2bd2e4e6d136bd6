//! Maps the segments of any moment with their blocks, and finds the free memory that is usable or stuck.

mod at;
mod held;
mod history;
mod lasting;
mod places;
mod rests;
mod rooms;
#[cfg(test)]
mod tests;
mod waits;

pub use at::{MapBlock, MapSegment, SegmentMap};
pub use held::{Held, held_segments};
pub use history::SegmentHistory;
pub use rooms::{Room, rooms};
