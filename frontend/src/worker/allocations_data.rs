//! Tables of allocations and of groups of them, as they travel: a page of rows at a time.

use super::protocol::Hit;
use super::selection_data::{GroupKeyData, GroupMark, SelectionData, SelectionFacts};
use serde::{Deserialize, Serialize};
use shared::analysis::GroupBy;

/// What the view of allocations asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AllocationsQuestion {
    /// What allocations can be filtered by.
    Facts,
    /// Some rows of a table; a newer one makes the worker skip those that still wait.
    Rows(TableRequest),
    /// The next or previous allocation of a selection, in the order of their births.
    Walk(WalkRequest),
    /// The group of a mark.
    Group(GroupMark),
}

/// The answer to an [`AllocationsQuestion`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AllocationsAnswer {
    /// What allocations can be filtered by.
    Facts(SelectionFacts),
    /// Rows of a table.
    Rows(TablePage),
    /// An allocation and its place, `None` where nothing was found.
    Walk(Option<Found>),
    /// A group and its title, `None` where there is no such one.
    Group(Option<(GroupKeyData, String)>),
    /// What is looked for can't be read: a sentence for whoever typed it.
    Mistyped(String),
}

/// Which rows of which table are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableRequest {
    /// What the table is about.
    pub selection: SelectionData,
    /// What its rows are: groups, or single allocations without it.
    pub by: Option<GroupBy>,
    /// The order of its rows.
    pub sort: Sort,
    /// The position of the first row.
    pub first: u32,
    /// How many rows at most.
    pub count: u32,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sort {
    /// What they are ordered by.
    pub column: Column,
    /// Whether the smallest comes first.
    pub is_rising: bool,
}

/// What rows can be ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Column {
    /// The size, or the sum of the sizes.
    #[default]
    Bytes,
    /// How many allocations.
    Count,
    /// The event of the `alloc`.
    Born,
    /// How many events it is alive for.
    Lifetime,
    /// What it is for.
    Category,
    /// What it is called.
    Title,
}

/// Some rows of a table, and the sums over all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    /// The position of the first row.
    pub first: u32,
    /// The rows.
    pub rows: TableRows,
    /// How many rows the table has.
    pub row_count: u32,
    /// The sum of the sizes of the selection.
    pub bytes: u64,
    /// How many allocations are in it.
    pub count: u64,
    /// How many there would be without the filter.
    pub all_count: u64,
    /// The largest bytes of a row, for bars.
    pub most_bytes: u64,
}

/// Rows of either kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TableRows {
    /// Single allocations.
    Allocations(Vec<AllocationRow>),
    /// Groups.
    Groups(Vec<GroupRow>),
}

impl Default for TableRows {
    fn default() -> Self {
        Self::Groups(Vec::new())
    }
}

/// One allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationRow {
    /// Its position.
    pub allocation: u32,
    /// The requested size.
    pub size_bytes: u64,
    /// First moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// How many moments it is alive at, within the trace.
    pub lifetime: u32,
    /// Whether it outlives the trace.
    pub outlives: bool,
    /// What it is for, by position.
    pub category: u8,
    /// What its stack is about.
    pub title: String,
    /// Who called that.
    pub detail: String,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// What its allocations have in common.
    pub key: GroupKeyData,
    /// The sum of their sizes.
    pub bytes: u64,
    /// How many they are.
    pub count: u64,
    /// What it is called.
    pub title: String,
    /// What tells it from groups of the same title, or empty.
    pub detail: String,
}

/// Which allocation of a selection is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WalkRequest {
    /// The selection.
    pub selection: SelectionData,
    /// Where to go.
    pub to: Walk,
}

/// Where to go in a selection; beyond its end it begins again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Walk {
    /// To the first one.
    #[default]
    First,
    /// To the first one after this allocation.
    After(u32),
    /// To the last one before this allocation.
    Before(u32),
    /// To this allocation, whether or not it is in the selection.
    This(u32),
}

/// An allocation of a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The allocation, as a click on it would have hit it.
    pub hit: Hit,
    /// Its place among those of the selection, from 0; of one that is not in it, how many come before it.
    pub position: u32,
    /// How many the selection has.
    pub count: u32,
}
