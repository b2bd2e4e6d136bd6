//! Map of segments: layout and drawing.

mod ops;
mod plan;
#[cfg(test)]
mod tests;

pub use ops::{MapScene, ops};
pub use plan::{Direction, MapPlan, block_at_addr, blocks_of};
pub use shared::draw::segment_lines::bytes_per_line;
