//! What the flame graph asks the worker, and the answers.

use super::protocol::Hit;
use super::selection_data::SelectionData;
use serde::{Deserialize, Serialize};

/// The allocations of a flame graph, and how their stacks are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameSource {
    /// The allocations, and what each of them counts for.
    pub selection: SelectionData,
    /// Whether the lines of a function are told apart.
    pub by_line: bool,
    /// Whether frames of the machinery under the program are shown.
    pub with_runtime: bool,
}

/// A site of stacks, by its frame; `None` for allocations without a stack.
pub type SiteKey = Option<u32>;

/// Which tree of a source is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlameShape {
    /// Callers above what they call.
    #[default]
    Whole,
    /// Each innermost site above its callers.
    Inverted,
    /// One site above its callers.
    Callers(SiteKey),
    /// One site above what it calls.
    Callees(SiteKey),
}

/// A tree whose nodes have numbers that hold as long as the tree is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameTree {
    /// The allocations.
    pub source: FlameSource,
    /// Which tree of them.
    pub shape: FlameShape,
    /// Whether siblings stand in order of first appearance, and not the largest first.
    pub by_appearance: bool,
}

/// What the flame graph asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FlameQuestion {
    /// The boxes that a range of weight shows; a newer one makes the worker skip those that still wait.
    Boxes {
        /// The tree.
        tree: FlameTree,
        /// From the left to the right edge, in units of weight; `None` for all.
        range: Option<(f64, f64)>,
        /// What is looked for in names and places, or nothing.
        search: String,
    },
    /// All sites of the stacks.
    Sites(FlameSource),
    /// The largest allocation of a node.
    Largest {
        /// The tree.
        tree: FlameTree,
        /// The number of the node.
        node: u32,
    },
}

impl FlameQuestion {
    /// Whether nobody waits for the answer to an older question once there is this one.
    ///
    /// The two trees of a sandwich are in the page at once.
    pub(super) fn replaces(&self, older: &Self) -> bool {
        match (self, older) {
            (Self::Boxes { tree, .. }, Self::Boxes { tree: older, .. }) => {
                std::mem::discriminant(&tree.shape) == std::mem::discriminant(&older.shape)
            }
            (Self::Sites(_), Self::Sites(_)) => true,
            _ => false,
        }
    }
}

/// An answer to the [`FlameQuestion`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FlameAnswer {
    /// The boxes of a range.
    Boxes(FlameBoxes),
    /// All sites.
    Sites(FlameSites),
    /// A point on the allocation, `None` if the node has none.
    Largest(Option<Hit>),
    /// What is wrong with the text of the filter, to any question.
    Mistyped(String),
}

/// What a group of allocations comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTally {
    /// The sum of their weights, in the unit of the selection.
    pub weight: u64,
    /// How many they are.
    pub count: u64,
}

/// A site in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteText {
    /// Which one; `None` for allocations without a stack, and for what is no site at all.
    pub key: SiteKey,
    /// The function, or the operation behind a symbol of PyTorch's C++.
    pub name: String,
    /// The file with its path, or empty.
    pub filename: String,
    /// The line, 0 where lines are not told apart or not known.
    pub line: u64,
    /// Whether the search finds it.
    pub is_match: bool,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlameBoxKind {
    /// Everything.
    All,
    /// A site, by its position in [`FlameBoxes::sites`].
    Site(u32),
    /// So many siblings, each too small to be seen.
    Merged(u32),
}

/// A box of a flame graph; parents come before their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBoxData {
    /// The number of its node in the tree; of the first one where several are merged.
    pub node: u32,
    /// The position of the box that it is a part of; the root's own.
    pub parent: u32,
    /// Steps down from the root.
    pub depth: u32,
    /// What it stands for.
    pub kind: FlameBoxKind,
    /// The weight to the left of it.
    pub start: u64,
    /// The allocations of it and its parts.
    pub total: FlameTally,
    /// Those of no part of it.
    pub own: FlameTally,
}

/// The boxes of a range that are wide enough to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameBoxes {
    /// The boxes.
    pub boxes: Vec<FlameBoxData>,
    /// What they are of.
    pub sites: Vec<SiteText>,
    /// Rows of the whole tree.
    pub depth: u32,
    /// The stacks with a site that the search finds, each counted once; nothing without a search.
    pub found: Option<FlameTally>,
}

/// A site with what it allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRow {
    /// The site.
    pub site: SiteText,
    /// The stacks that it is in, each counted once.
    pub total: FlameTally,
    /// The stacks that it is the innermost site of.
    pub own: FlameTally,
}

/// All sites, the largest total first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameSites {
    /// The sites.
    pub rows: Vec<SiteRow>,
    /// All allocations; totals of sites don't add up to it, their own weights do.
    pub total: FlameTally,
}
