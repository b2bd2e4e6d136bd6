//! Maps the segments of any moment with their blocks, and finds the free memory that is usable or stuck.
//!
//! Invariant: if a trace starts with the program, the blocks are those of the allocator; all stored states together
//! have no more rows than the trace has changes.

mod at;
mod history;
mod places;
mod rests;
#[cfg(test)]
mod tests;
mod waits;

pub use at::{Held, MapBlock, MapSegment, Room, SegmentMap, held_segments, rooms};
pub use history::SegmentHistory;
