//! Map of segments: layout and drawing.

mod groups;
mod ops;
mod plan;
#[cfg(test)]
mod tests;

pub use groups::{block_at_addr, blocks_of};
pub use ops::{MapScene, ops};
pub use plan::{Direction, MapPlan};
pub use shared::draw::segment_lines::bytes_per_line;
