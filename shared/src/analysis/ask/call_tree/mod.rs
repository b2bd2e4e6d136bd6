//! Groups allocations by their call stacks: trees for flame graphs, and each frame with its callers and callees.
//!
//! Idea: allocations are summed by stack first, because a million allocations share a few thousand stacks.
//! Each stack becomes a path of sites, and a tree merges the common beginnings of the paths.
//!
//! ```text
//! stacks, outermost frame first       tree                 the same, inverted
//! main > step > relu   30             all 100              all 100
//! main > step > mm     50             └ main 100           ├ mm 50
//! main > load          20               ├ step 80          │ └ step 50
//!                                       │ ├ mm 50          │   └ main 50
//!                                       │ └ relu 30        ├ relu 30 …
//!                                       └ load 20          └ load 20 …
//! ```
//!
//! Cost: linear in the allocations and in the frames of their stacks, plus sorting the stacks.
//!
//! Invariant: the totals of a tree add up to its selection, and a stack counts once for each site in it.

mod calls;
mod cut;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use calls::merged;
pub use calls::{Calls, MergeBy, PathConfig, Site, SiteTotal, Tally};
pub use cut::{Cut, CutContent, cut};
pub use tree::{CallNode, CallTree, NodeOrder, Sandwich, TreeConfig};
