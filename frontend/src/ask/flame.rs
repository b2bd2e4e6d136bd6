//! Defines flame graphs and the answers about them.

use super::selection::SelectionData;
use serde::{Deserialize, Serialize};
use shared::analysis::Tally;

/// Allocations of a flame graph, and how their stacks are merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameSource {
    pub selection: SelectionData,
    /// True if lines of the same function are distinguished.
    pub by_line: bool,
    /// True if frames of the runtime below the program are shown.
    pub with_runtime: bool,
}

/// Site of stacks, by its frame; `None` for allocations without a stack.
pub type SiteKey = Option<u32>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlameShape {
    /// Callers above callees.
    #[default]
    Whole,
    /// Each innermost site above its callers.
    Inverted,
    /// One site above its callers.
    Callers(SiteKey),
    /// One site above its callees.
    Callees(SiteKey),
}

/// Call tree; the numbers of its nodes are valid as long as all fields are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameTree {
    pub source: FlameSource,
    pub shape: FlameShape,
    /// True if siblings are in order of first appearance, false for the largest first.
    pub by_appearance: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteText {
    /// Key of the site; `None` for allocations without a stack, and for nodes that are not sites.
    pub key: SiteKey,
    /// Function, or the operation behind a C++ symbol of PyTorch.
    pub name: String,
    /// File with its path, or empty.
    pub filename: String,
    /// Line, 0 if lines are not distinguished or not known.
    pub line: u64,
    pub is_match: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlameBoxKind {
    /// Root, which contains all allocations.
    All,
    /// Site, by its position in [`FlameBoxes::sites`].
    Site(u32),
    /// Number of merged siblings, each of which is too narrow to be seen.
    Merged(u32),
}

/// Box of a flame graph; parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBoxData {
    /// Number of its node in the tree, or of the first node if several are merged.
    pub node: u32,
    /// Position of the parent box; the root is its own parent.
    pub parent: u32,
    pub depth: u32,
    pub kind: FlameBoxKind,
    /// Sum of the weights to the left of it.
    pub start: u64,
    /// Allocations of the node and its descendants.
    pub total: Tally,
    /// Allocations of the node without those of its descendants.
    pub own: Tally,
}

/// Boxes of a range that are wide enough to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBoxes {
    pub boxes: Vec<FlameBoxData>,
    pub sites: Vec<SiteText>,
    /// Number of rows of the whole tree.
    pub depth: u32,
    /// Allocations of stacks with a matching site, each counted once; `None` without a search.
    pub found: Option<Tally>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRow {
    pub site: SiteText,
    /// Allocations of all stacks that contain the site, each counted once.
    pub total: Tally,
    /// Allocations of the stacks whose innermost site it is.
    pub own: Tally,
}

/// All sites, the largest total first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameSites {
    pub rows: Vec<SiteRow>,
    /// Sum over all allocations; the sites' totals may add up to more, their own weights add up to it.
    pub total: Tally,
}
