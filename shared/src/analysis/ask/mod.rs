//! Questions: findings, selections, call trees, differences, ranks, segments and replays.
//!
//! Invariant: no question changes what another one is answered from.

pub(super) mod call_tree;
pub(super) mod diff;
pub(super) mod findings;
pub(super) mod fragmentation;
pub(super) mod ranks;
pub(super) mod replay;
pub(super) mod script;
pub(super) mod segment_map;
pub(super) mod selection;
pub(super) mod source_lines;
#[cfg(test)]
mod tests;
pub(super) mod until_full;

pub use call_tree::*;
pub use diff::*;
pub use findings::*;
pub use fragmentation::*;
pub use ranks::*;
pub use replay::*;
pub use script::*;
pub use segment_map::*;
pub use selection::*;
pub use source_lines::*;
pub use until_full::*;
