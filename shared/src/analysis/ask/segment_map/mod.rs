//! Maps the segments of any moment with their blocks, and finds the free memory that is usable or stuck.
//!
//! Invariant: if a trace starts with the program, the blocks are those of the allocator; all stored states together
//! have no more rows than the trace has changes.

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
