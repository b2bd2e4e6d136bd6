//! Columns of tables of allocations that the user chooses.

use serde::{Deserialize, Serialize};
use shared::analysis::Phase;
use shared::names;

/// Column by which rows can be ordered; a column that the rows do not have orders them by bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Column {
    /// Size, or sum of the sizes.
    #[default]
    Bytes,
    /// Number of allocations.
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

/// Set of optional columns.
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

    /// Returns the columns of the set in their order.
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
