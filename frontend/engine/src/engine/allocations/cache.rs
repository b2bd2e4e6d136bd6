//! Tables of allocations or groups.

use super::order::Order;
use frontend::ask::{Column, GroupBy, GroupKey, SelectionData, Sort};
use shared::allocator::Settings;
use shared::analysis::{AllocationId, Groups};

/// Table with the order of its rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(super) selection: SelectionData,
    pub(super) by: Option<GroupBy>,
    pub(super) sort: Sort,
    /// Selection, in the order of births.
    pub(super) ids: Vec<AllocationId>,
    pub(super) bytes: u64,
    pub(super) all_count: u64,
    /// Bytes of the largest row.
    pub(super) most_bytes: u64,
    pub(super) rows: Rows,
    pub(super) open: Vec<OpenGroup>,
}

/// Open group with its allocations, the largest first.
#[derive(Debug)]
pub(super) struct OpenGroup {
    pub(super) key: GroupKey,
    pub(super) ids: Vec<AllocationId>,
}

#[derive(Debug)]
pub(super) enum Rows {
    Allocations(Order, Key),
    Groups(Groups),
}

/// Number per allocation that sorts like a column.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) column: Column,
    /// Settings by which requests were rounded.
    pub(super) rounding: Settings,
    /// Rank of each stack's title among all titles, by the stack's index; empty for other columns.
    pub(super) title_ranks: Vec<u32>,
}
