//! Answers questions about tables of allocations and groups, which are sorted once and sent by the page.

pub(super) mod cache;
mod columns;
mod open;
mod order;
mod sheet;

use self::cache::{Key, Rows, Table};
use self::order::Order;
pub(super) use self::sheet::{pool, sheet, stream};
use super::hit::found_hit;
use super::ready::Ready;
use super::selection::{Selected, scope};
use frontend::ask::stack::stack_mark;
use frontend::ask::{
    AllocationRow, Column, Found, GroupMark, GroupRow, NameMark, SelectionData, Sort, TablePage, TableRequest,
    TableRows, Walk, WalkRequest,
};
use shared::allocator::Settings;
use shared::analysis::{
    AllocationId, Group, GroupKey, Groups, Label, Scope, former_label, label, stack_group, stack_labels,
};
use shared::base::ShortSort;
use shared::report::frames;
use shared::trace::Trace;

/// Returns rows of a table; the error is a message for the user if the search text is not valid.
pub(super) fn page(ready: Ready<'_>, request: &TableRequest) -> Result<TablePage, String> {
    let mut cache = ready.kept.table.borrow_mut();
    let is_same = |table: &Table| table.selection == request.selection && table.by == request.by;
    let table = match cache.take().filter(is_same) {
        Some(table) if table.sort == request.sort => table,
        Some(table) => table.sorted(ready, request.sort),
        None => Table::new(ready, request)?,
    };
    let mut table = table.opened(ready, request)?;
    let page = table.page(ready, request);
    *cache = Some(table);
    Ok(page)
}

impl Table {
    fn new(ready: Ready<'_>, request: &TableRequest) -> Result<Self, String> {
        let selected = Selected::new(ready, &request.selection)?;
        let all_count = selected.scope.count(ready.timeline) as u64;
        let size = |id: &AllocationId| ready.timeline.allocations.size_bytes_of(*id);
        let sizes = || selected.ids.iter().map(size);
        let bytes = sizes().fold(0, u64::saturating_add);
        let (rows, most_bytes) = match request.by {
            None => (rows(ready, &selected.ids, request.sort), sizes().max()),
            Some(kind) => {
                let mut groups = selected.groups(ready, kind);
                sort_groups(ready.trace, &mut groups, request.sort);
                let most_bytes = groups.rows.iter().map(|group| group.totals.bytes).max();
                (Rows::Groups(groups), most_bytes)
            }
        };
        Ok(Self {
            selection: request.selection.clone(),
            by: request.by,
            sort: request.sort,
            ids: selected.ids,
            bytes,
            all_count,
            most_bytes: most_bytes.unwrap_or(0),
            rows,
            open: Vec::new(),
        })
    }

    /// Returns the table in another order; allocations with equal values keep the order of their births.
    fn sorted(mut self, ready: Ready<'_>, sort: Sort) -> Self {
        match &mut self.rows {
            Rows::Allocations(..) => self.rows = rows(ready, &self.ids, sort),
            Rows::Groups(groups) => sort_groups(ready.trace, groups, sort),
        }
        self.sort = sort;
        self
    }

    fn page(&mut self, ready: Ready<'_>, request: &TableRequest) -> TablePage {
        let (rows, row_count) = match &mut self.rows {
            Rows::Allocations(order, key) => {
                let ids = order.window(request.first as usize, request.count as usize, &|id| key.of(ready, id));
                let rows = allocation_rows(ready, &key.rounding, ids).collect();
                (TableRows::Allocations(rows), order.len())
            }
            Rows::Groups(groups) => {
                let of_groups = |rows: &[Group]| group_rows(ready.trace, groups, rows);
                let of_ids = |ids: &[AllocationId]| allocation_rows(ready, &columns::rounding(ready), ids).collect();
                open::page(groups, &self.open, request, of_groups, of_ids)
            }
        };
        TablePage {
            first: request.first,
            rows,
            row_count: row_count as u32,
            bytes: self.bytes,
            count: self.ids.len() as u64,
            all_count: self.all_count,
            most_bytes: self.most_bytes,
        }
    }
}

fn rows(ready: Ready<'_>, ids: &[AllocationId], sort: Sort) -> Rows {
    let key = Key::new(ready, ids, sort.column);
    Rows::Allocations(Order::new(ids, sort.is_rising, |id| key.of(ready, id)), key)
}

/// Describes allocations; those with equal labels are told apart.
fn allocation_rows(ready: Ready<'_>, rounding: &Settings, ids: &[AllocationId]) -> impl Iterator<Item = AllocationRow> {
    let stack = move |&id: &AllocationId| ready.timeline.allocations.allocation_stack(id, ready.device);
    let labels = stack_labels(ready.trace, ids.iter().map(stack));
    ids.iter().zip(labels).map(move |(id, label)| {
        let allocation = ready.timeline.allocations.get(*id, ready.device);
        let Label { title, detail } = stack_group(ready.trace, stack(id), label);
        AllocationRow {
            allocation: id.index() as u32,
            size_bytes: allocation.size_bytes,
            born: allocation.born,
            lifetime: allocation.died.min(ready.timeline.events() + 1) - allocation.born,
            outlives: allocation.died == u32::MAX,
            category: ready.categories()[id.index()],
            facts: columns::facts(ready, rounding, *id),
            title,
            detail,
        }
    })
}

/// Describes groups; stacks with equal labels are told apart.
fn group_rows(trace: &Trace, groups: &Groups, rows: &[Group]) -> Vec<GroupRow> {
    let stacks = rows.iter().filter_map(|row| if let GroupKey::Stack(stack) = row.key { Some(stack) } else { None });
    let mut labels = stack_labels(trace, stacks).into_iter();
    let row = |&Group { key, totals, .. }: &Group| {
        let Label { title, detail } = match key {
            GroupKey::Stack(stack) => stack_group(trace, stack, labels.next().flatten()),
            _ => label(trace, groups, key),
        };
        let (mark, stack) = (mark(trace, groups, key), stack_of(trace, key));
        GroupRow { key, bytes: totals.bytes, count: totals.count, title, detail, mark, stack }
    };
    rows.iter().map(row).collect()
}

/// Returns the mark of the stack that the allocations of a group share.
pub(super) fn stack_of(trace: &Trace, key: GroupKey) -> Option<NameMark> {
    match key {
        GroupKey::Stack(stack) => Some(stack_mark(&frames(trace, stack))),
        _ => None,
    }
}

/// Returns the mark of a group, which depends neither on the list that it is in nor on what own code is.
pub(super) fn mark(trace: &Trace, groups: &Groups, key: GroupKey) -> NameMark {
    let Label { title, detail } = former_label(trace, key).unwrap_or_else(|| label(trace, groups, key));
    NameMark::of([title.as_str(), &detail])
}

/// Finds the group with a mark among the groups of the whole trace.
pub(super) fn marked(ready: Ready<'_>, of: GroupMark) -> Result<Option<(GroupKey, String)>, String> {
    let selected = Selected::new(ready, &SelectionData::whole())?;
    let groups = selected.groups(ready, of.by);
    let found = groups.rows.iter().find(|row| mark(ready.trace, &groups, row.key) == of.mark);
    Ok(found.map(|row| (row.key, label(ready.trace, &groups, row.key).title)))
}

fn sort_groups(trace: &Trace, groups: &mut Groups, sort: Sort) {
    let mut rows = std::mem::take(&mut groups.rows);
    match sort.column {
        Column::Title => rows.short_sort_by_key(|row| label(trace, groups, row.key).title.to_lowercase()),
        column => rows.short_sort_by_key(|row| {
            let (bytes, count) = (row.totals.bytes, row.totals.count);
            let figures = if column == Column::Count { (count, bytes) } else { (bytes, count) };
            (figures, row.key)
        }),
    }
    if !sort.is_rising {
        rows.reverse();
    }
    groups.rows = rows;
}

/// Returns the next or previous allocation of a selection; the error is a message for the user if the search text is
/// not valid.
pub(super) fn walk(ready: Ready<'_>, request: &WalkRequest) -> Result<Option<Found>, String> {
    let cache = ready.kept.table.borrow();
    let of_table = cache.as_ref().filter(|table| table.selection == request.selection);
    let selected;
    let ids = match of_table {
        Some(table) => &table.ids,
        None => {
            selected = Selected::new(ready, &request.selection)?.ids;
            &selected
        }
    };
    Ok(step(ready, ids, request))
}

fn step(ready: Ready<'_>, ids: &[AllocationId], request: &WalkRequest) -> Option<Found> {
    let count = ids.len();
    let before = |allocation: u32| ids.partition_point(|id| id.index() < allocation as usize);
    let position = match request.to {
        Walk::First => 0,
        Walk::This(allocation) => {
            return Some(found(ready, request, ready.id(allocation)?, (before(allocation), count)));
        }
        Walk::After(allocation) => ids.partition_point(|id| id.index() <= allocation as usize) % count.max(1),
        Walk::Before(allocation) => before(allocation).checked_sub(1).or(count.checked_sub(1))?,
    };
    Some(found(ready, request, *ids.get(position)?, (position, count)))
}

fn found(ready: Ready<'_>, request: &WalkRequest, id: AllocationId, (position, count): (usize, usize)) -> Found {
    let moment = shown_moment(ready, &scope(ready, request.selection.scope), id);
    Found { hit: found_hit(ready, id, moment), position: position as u32, count: count as u32 }
}

/// Returns the moment at which to show an allocation: that of the scope, or else its first moment within the scope.
pub(super) fn shown_moment(ready: Ready<'_>, scope: &Scope, id: AllocationId) -> u32 {
    let allocation = ready.timeline.allocations.get(id, ready.device);
    let last = allocation.died.saturating_sub(1).max(allocation.born);
    match scope {
        Scope::At(moment) => (*moment).clamp(allocation.born, last),
        Scope::Within { moments, .. } => moments.start.clamp(allocation.born, last),
    }
}

#[cfg(test)]
mod tests;
