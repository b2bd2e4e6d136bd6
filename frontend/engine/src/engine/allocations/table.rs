//! Holds the most recent table of allocations or groups, with its open groups, whose allocations follow them.

use super::columns::Key;
use super::order::Order;
use crate::engine::ready::Ready;
use crate::engine::selection::{Selected, group_key_data};
use frontend::ask::{
    AllocationRow, FilterData, GroupBy, GroupKeyData, GroupRow, MixedRow, SelectionData, Sort, TableRequest, TableRows,
};
use shared::analysis::{AllocationId, Group, Groups};
use std::cell::RefCell;
use std::ops::Range;

/// Most recent table of a device, because scrolling asks for many pages of the same table.
pub(crate) type TableCache = RefCell<Option<Table>>;

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
    pub(super) key: GroupKeyData,
    pub(super) ids: Vec<AllocationId>,
}

#[derive(Debug)]
pub(super) enum Rows {
    Allocations(Order, Key),
    Groups(Groups),
}

/// Maximum number of groups that are open at once.
const MOST_OPEN: usize = 50;

impl Table {
    /// Returns the table with exactly the requested groups open.
    pub(super) fn opened(mut self, ready: Ready<'_>, request: &TableRequest) -> Result<Self, String> {
        self.open.retain(|open| request.open.contains(&open.key));
        for &key in request.open.iter().take(MOST_OPEN) {
            if self.open.iter().all(|open| open.key != key) {
                self.open.push(OpenGroup { key, ids: members(ready, &request.selection, key)? });
            }
        }
        Ok(self)
    }
}

fn members(ready: Ready<'_>, selection: &SelectionData, key: GroupKeyData) -> Result<Vec<AllocationId>, String> {
    let filter = FilterData { group: Some(key), ..selection.filter.clone() };
    let mut ids = Selected::new(ready, &SelectionData { filter, ..selection.clone() })?.ids;
    ids.sort_by_key(|&id| std::cmp::Reverse(ready.timeline.allocations.size_bytes_of(id)));
    Ok(ids)
}

/// Returns the requested rows, and the number of all rows; `group_rows` and `rows` describe groups and allocations.
pub(super) fn page(
    groups: &Groups,
    open: &[OpenGroup],
    request: &TableRequest,
    group_rows: impl Fn(&[Group]) -> Vec<GroupRow>,
    allocation_rows: impl Fn(&[AllocationId]) -> Vec<AllocationRow>,
) -> (TableRows, usize) {
    let wanted = request.first as usize..(request.first as usize).saturating_add(request.count as usize);
    let (mut rows, mut position) = (Vec::new(), 0);
    let mut shown = group_rows(&groups_in(groups, open, &wanted)).into_iter();
    for group in &groups.rows {
        let members = members_of(open, group);
        if wanted.contains(&position) {
            rows.extend(shown.next().map(|row| MixedRow::Group(row, members.is_some())));
        }
        position += 1;
        let ids = members.unwrap_or_default();
        let part = overlap(&wanted, position, ids.len());
        if !part.is_empty() {
            rows.extend(allocation_rows(&ids[part]).into_iter().map(MixedRow::Allocation));
        }
        position += ids.len();
    }
    (TableRows::Mixed(rows), position)
}

/// Returns the groups whose own rows are among the wanted ones.
fn groups_in(groups: &Groups, open: &[OpenGroup], wanted: &Range<usize>) -> Vec<Group> {
    let mut position = 0;
    let mut shown = Vec::new();
    for group in &groups.rows {
        if wanted.contains(&position) {
            shown.push(*group);
        }
        position += 1 + members_of(open, group).map_or(0, <[_]>::len);
    }
    shown
}

fn members_of<'a>(open: &'a [OpenGroup], group: &Group) -> Option<&'a [AllocationId]> {
    let key = group_key_data(group.key);
    open.iter().find(|open| open.key == key).map(|open| open.ids.as_slice())
}

/// Returns the part of `count` rows from `start` on that lies in `wanted`, relative to `start`.
fn overlap(wanted: &Range<usize>, start: usize, count: usize) -> Range<usize> {
    let first = wanted.start.saturating_sub(start).min(count);
    first..wanted.end.saturating_sub(start).clamp(first, count)
}
