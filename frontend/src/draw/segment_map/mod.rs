//! The map of segments: where they lie, and how they are drawn.

mod groups;
mod ops;
mod plan;
#[cfg(test)]
mod tests;
mod writer;

pub use groups::{Group, blocks_of, groups};
pub use ops::{ColorBy, MapScene, ops};
pub use plan::{Direction, Line, MapPlan, Run, bytes_per_line};
