//! Defines the questions about flame graphs and source lines, and their answers.

use super::selection::SelectionData;
use serde::{Deserialize, Serialize};

/// Allocations of a flame graph, and how their stacks are merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameSource {
    /// Allocations and their weights.
    pub selection: SelectionData,
    /// True if lines of the same function are distinguished.
    pub by_line: bool,
    /// True if frames of the runtime below the program are shown.
    pub with_runtime: bool,
}

/// Site of stacks, by its frame; `None` for allocations without a stack.
pub type SiteKey = Option<u32>;

/// Shape of a call tree.
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

/// Asks for the boxes in a range of weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetBoxes {
    pub device: u32,
    pub tree: FlameTree,
    /// Left and right edge in units of weight; `None` for the whole range.
    pub range: Option<(f64, f64)>,
    /// Text to search for in names and places, or empty.
    pub search: String,
}

/// Asks for all sites of some stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSites {
    pub device: u32,
    pub source: FlameSource,
}

/// Asks for the largest allocation of a node: a point on it, `None` if the node has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetLargest {
    pub device: u32,
    pub tree: FlameTree,
    pub node: u32,
}

impl GetBoxes {
    /// Returns true if this question makes the answer to an older one unnecessary.
    ///
    /// Trees of different shapes do not supersede each other, because the page shows both trees of a sandwich at once.
    pub(super) fn replaces(&self, older: &Self) -> bool {
        std::mem::discriminant(&self.tree.shape) == std::mem::discriminant(&older.tree.shape)
    }
}

/// Sums over a group of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTally {
    /// Sum of their weights, in the unit of the selection.
    pub weight: u64,
    pub count: u64,
}

/// Description of a site.
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
    /// True if the search matches it.
    pub is_match: bool,
}

/// Content of a box.
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
    pub total: FlameTally,
    /// Allocations of the node without those of its descendants.
    pub own: FlameTally,
}

/// Boxes of a range that are wide enough to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBoxes {
    pub boxes: Vec<FlameBoxData>,
    pub sites: Vec<SiteText>,
    /// Number of rows of the whole tree.
    pub depth: u32,
    /// Allocations of stacks with a matching site, each counted once; `None` without a search.
    pub found: Option<FlameTally>,
}

/// Site with the memory that it allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRow {
    pub site: SiteText,
    /// Allocations of all stacks that contain the site, each counted once.
    pub total: FlameTally,
    /// Allocations of the stacks whose innermost site it is.
    pub own: FlameTally,
}

/// All sites, the largest total first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameSites {
    pub rows: Vec<SiteRow>,
    /// Sum over all allocations; the sites' totals may add up to more, their own weights add up to it.
    pub total: FlameTally,
}

/// Asks for the paths of the source files in the stacks of all devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSourceFiles {
    pub device: u32,
}

/// Asks for the memory of source lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSource {
    pub device: u32,
    pub selection: SelectionData,
    /// Files whose lines own allocations, as stacks name them; `None` for the program and its libraries.
    pub focus: Option<Vec<String>>,
}
