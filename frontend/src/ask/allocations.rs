//! Defines tables of allocations and groups, of which a page of rows at a time is sent, and the columns that the user
//! chooses.

use super::kind::Kind;
use super::selection::{GroupMark, NameMark, SelectionData};
use super::timeline::Hit;
use serde::{Deserialize, Serialize};
use shared::analysis::{Category, GroupBy, GroupKey, Phase};
use shared::names;
use std::cmp::Ordering;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableRequest {
    pub selection: SelectionData,
    /// Grouping of the rows; `None` for single allocations.
    pub by: Option<GroupBy>,
    pub sort: Sort,
    /// Columns of a saved table; a page of rows has all of them.
    pub columns: Columns,
    /// Groups whose allocations follow them.
    pub open: Vec<GroupKey>,
    pub first: u32,
    pub count: u32,
}

/// Order of a table's rows by one of its columns; by default the largest values of the default column come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortBy<C> {
    pub column: C,
    pub is_rising: bool,
}

/// Column by which a table can be sorted.
pub trait SortColumn: Copy + PartialEq {
    /// Returns true if its usual order is the ascending one.
    fn rises(self) -> bool;
}

impl<C: SortColumn> SortBy<C> {
    /// Returns the order after a click on a column's head.
    ///
    /// A click on the current column reverses the order; another column starts with its usual direction.
    #[must_use]
    pub fn after(self, column: C) -> Self {
        Self { column, is_rising: if column == self.column { !self.is_rising } else { column.rises() } }
    }

    /// Sorts positions of rows by what `compare` says of them in ascending order; equal ones stay as they are.
    pub(super) fn sort(self, rows: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
        rows.sort_by(|&a, &b| if self.is_rising { compare(a, b) } else { compare(b, a) });
    }

    /// Returns the value of `aria-sort` for a column's head.
    pub fn aria(self, column: C) -> &'static str {
        match (self.column == column, self.is_rising) {
            (false, _) => "none",
            (true, true) => "ascending",
            (true, false) => "descending",
        }
    }
}

pub type Sort = SortBy<Column>;

impl SortColumn for Column {
    fn rises(self) -> bool {
        matches!(self, Self::Title | Self::Category | Self::Born | Self::Died | Self::Phase | Self::Step)
    }
}

/// Range of rows of a table, and the sums over all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    pub first: u32,
    pub rows: TableRows,
    /// Number of rows of the whole table.
    pub row_count: u32,
    /// Sum of the sizes of the selection.
    pub bytes: u64,
    /// Number of allocations of the selection.
    pub count: u64,
    /// Number of allocations without the filter.
    pub all_count: u64,
    /// Bytes of the largest row, which scales the bars.
    pub most_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TableRows {
    Allocations(Vec<AllocationRow>),
    /// Groups, of which some may be open.
    Groups(Vec<MixedRow>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MixedRow {
    /// Group, and true if its allocations follow.
    Group(GroupRow, bool),
    /// Allocation of the open group above.
    Allocation(AllocationRow),
}

impl Default for TableRows {
    fn default() -> Self {
        Self::Groups(Vec::new())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationRow {
    pub allocation: u32,
    /// Requested size.
    pub size_bytes: u64,
    /// First moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// Number of moments at which it is alive, within the trace.
    pub lifetime: u32,
    pub outlives: bool,
    pub category: Category,
    pub facts: RowFacts,
    pub title: String,
    /// Leaf of the stack, and the frames that tell it apart from others, or else its callers.
    pub detail: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    pub key: GroupKey,
    pub bytes: u64,
    pub count: u64,
    pub title: String,
    /// Text that distinguishes the group from others with the same title, or empty.
    pub detail: String,
    /// Mark that stands for the group in URLs.
    pub mark: NameMark,
    /// Mark of the stack that the allocations share, if they are grouped by stack.
    pub stack: Option<NameMark>,
}

impl GroupRow {
    /// Returns the kind that consists of the group's allocations over the whole trace.
    pub fn kind(&self) -> Kind {
        match (self.stack, self.key) {
            (Some(stack), _) => Kind::Stack(stack),
            (None, GroupKey::Category(category)) => Kind::Category(category),
            (None, key) => Kind::Group(GroupMark { by: key.by(), mark: self.mark }),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WalkRequest {
    pub selection: SelectionData,
    pub to: Walk,
}

/// Destination of a walk through a selection; it wraps around at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Walk {
    #[default]
    First,
    /// First allocation after this one.
    After(u32),
    /// Last allocation before this one.
    Before(u32),
    /// This allocation, even if it is not in the selection.
    This(u32),
}

/// Allocation of a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Allocation as a click on it would have hit it.
    pub hit: Hit,
    /// Position in the selection, from 0; for an allocation outside it, the number of those that come before it.
    pub position: u32,
    /// Number of allocations of the selection.
    pub count: u32,
}

/// Column by which rows can be ordered; a column that the rows do not have orders them by bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Column {
    /// Size, or sum of the sizes.
    #[default]
    Bytes,
    Count,
    /// Event of the `alloc`.
    Born,
    /// Lifetime in events.
    Lifetime,
    Category,
    Title,
    /// Event of the free.
    Died,
    /// Phase of the `alloc`.
    Phase,
    /// Training step of the `alloc`.
    Step,
    /// Size of the block.
    Rounded,
    Address,
    Stream,
    Pool,
}

names!(Column {
    Bytes => "bytes",
    Count => "count",
    Born => "allocated",
    Lifetime => "lifetime",
    Category => "category",
    Title => "title",
    Died => "freed",
    Phase => "phase",
    Step => "step",
    Rounded => "rounded",
    Address => "address",
    Stream => "stream",
    Pool => "pool",
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Columns(u16);

impl Columns {
    /// Columns to choose from, in their order in the table.
    pub const ALL: [Column; 10] = [
        Column::Born,
        Column::Died,
        Column::Lifetime,
        Column::Category,
        Column::Phase,
        Column::Step,
        Column::Rounded,
        Column::Address,
        Column::Stream,
        Column::Pool,
    ];

    /// Returns the set of these columns; those that are always there are ignored.
    pub fn of(columns: impl IntoIterator<Item = Column>) -> Self {
        columns.into_iter().fold(Self(0), |set, column| Self(set.0 | bit(column)))
    }

    pub fn has(self, column: Column) -> bool {
        self.0 & bit(column) != 0
    }

    /// Returns the set with a column added, or removed if it was there.
    #[must_use]
    pub fn toggled(self, column: Column) -> Self {
        Self(self.0 ^ bit(column))
    }

    pub fn iter(self) -> impl Iterator<Item = Column> {
        Self::ALL.into_iter().filter(move |&column| self.has(column))
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self::of([Column::Born, Column::Lifetime, Column::Category])
    }
}

fn bit(column: Column) -> u16 {
    Columns::ALL.iter().position(|&one| one == column).map_or(0, |position| 1 << position)
}

/// Facts of an allocation that optional columns show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowFacts {
    /// First moment at which it is no longer alive; `None` if it outlives the trace.
    pub died: Option<u32>,
    pub addr: u64,
    /// Raw stream handle, if an event or a segment records it.
    pub stream: Option<u64>,
    /// Pool, if an event or a segment records it; `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// Phase of its `alloc`; `None` if it is from before the trace.
    pub phase: Option<Phase>,
    /// Number of the step of its `alloc`, from 0.
    pub step: Option<u32>,
    /// Size of its block, with rounding.
    pub rounded_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_chosen_by_itself() {
        let none = Columns::of([]);
        for column in Columns::ALL {
            let one = none.toggled(column);
            assert_eq!((one.iter().collect::<Vec<_>>(), one.toggled(column)), (vec![column], none));
        }
        assert_eq!(none.toggled(Column::Title), none, "the title is always there");
        assert!(Columns::default().has(Column::Born) && !Columns::default().has(Column::Address));
    }
}
