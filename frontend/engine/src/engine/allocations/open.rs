//! Open groups, whose allocations follow them in the table.

use super::cache::{OpenGroup, Table};
use crate::engine::ready::Ready;
use crate::engine::selection::Selected;
use frontend::ask::{AllocationRow, FilterData, GroupKey, GroupRow, MixedRow, SelectionData, TableRequest, TableRows};
use shared::analysis::{AllocationId, Group, Groups};
use shared::base::ShortSort;
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
    ids.short_sort_by_key(|&id| std::cmp::Reverse(ready.timeline.allocations.size_bytes_of(id)));
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
    let (mut shown, mut parts, mut position) = (Vec::new(), Vec::new(), 0);
    for group in &groups.rows {
        let members = open.iter().find(|open| open.key == group.key).map(|open| open.ids.as_slice());
        let is_shown = wanted.contains(&position);
        shown.extend(is_shown.then_some(*group));
        position += 1;
        let ids = members.unwrap_or_default();
        let part = &ids[overlap(&wanted, position, ids.len())];
        if is_shown || !part.is_empty() {
            parts.push((is_shown, members.is_some(), part));
        }
        position += ids.len();
    }
    let (mut rows, mut described) = (Vec::new(), group_rows(&shown).into_iter().peekable());
    for (is_shown, is_open, part) in parts {
        rows.extend(described.next_if(|_| is_shown).map(|row| MixedRow::Group(row, is_open)));
        if !part.is_empty() {
            rows.extend(allocation_rows(part).into_iter().map(MixedRow::Allocation));
        }
    }
    (TableRows::Groups(rows), position)
}

/// Returns the part of `count` rows from `start` on that lies in `wanted`, relative to `start`.
fn overlap(wanted: &Range<usize>, start: usize, count: usize) -> Range<usize> {
    let first = wanted.start.saturating_sub(start).min(count);
    first..wanted.end.saturating_sub(start).clamp(first, count)
}
