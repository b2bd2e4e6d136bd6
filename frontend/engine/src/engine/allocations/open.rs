//! Open groups, whose allocations follow them in the table.

use super::cache::{OpenGroup, Table};
use crate::engine::ready::Ready;
use crate::engine::selection::Selected;
use frontend::ask::{AllocationRow, FilterData, GroupKey, GroupRow, MixedRow, SelectionData, TableRequest, TableRows};
use shared::analysis::{AllocationId, Group, Groups};
use std::ops::Range;

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

fn members(ready: Ready<'_>, selection: &SelectionData, key: GroupKey) -> Result<Vec<AllocationId>, String> {
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
    open.iter().find(|open| open.key == group.key).map(|open| open.ids.as_slice())
}

/// Returns the part of `count` rows from `start` on that lies in `wanted`, relative to `start`.
fn overlap(wanted: &Range<usize>, start: usize, count: usize) -> Range<usize> {
    let first = wanted.start.saturating_sub(start).min(count);
    first..wanted.end.saturating_sub(start).clamp(first, count)
}
