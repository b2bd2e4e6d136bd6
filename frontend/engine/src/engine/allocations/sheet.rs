//! Writes all rows of a table of allocations, in their order, to a file.

use super::cache::{Rows, Table};
use super::columns;
use crate::engine::ready::Ready;
use crate::engine::sheets::{ALLOCATIONS, GROUPS, Write};
use frontend::ask::{Column, TableRequest};
use shared::analysis::{Label, label, pool_of, stack_callers, stream_of};
use shared::base::{Moment, format};
use shared::export::{Cell, Sheet};
use shared::trace::PoolId;

/// Columns that a saved table has if the page shows them, with their names; it always has all others.
const ADDED: [(Column, &str); 3] =
    [(Column::Phase, "phase"), (Column::Step, "step"), (Column::Rounded, "rounded_bytes")];

/// Writes all rows of a table; the error is a message if the filter's text is not valid.
pub(crate) fn sheet(ready: Ready<'_>, request: &TableRequest, write: &Write<'_>) -> Result<Vec<u8>, String> {
    let Ready { trace, device, timeline, .. } = ready;
    let index = Cell::number(device.index);
    let (order, key) = match Table::new(ready, request)?.rows {
        Rows::Allocations(order, key) => (order, key),
        Rows::Groups(groups) => {
            return Ok(write(GROUPS, &mut |row| {
                for group in &groups.rows {
                    let Label { title, detail } = label(trace, &groups, group.key);
                    let (bytes, count) = (Cell::number(group.totals.bytes), Cell::number(group.totals.count));
                    row(&[index.clone(), bytes, count, Cell::text(title.as_str()), Cell::some_text(&detail)]);
                }
            }));
        }
    };
    let (mut order, allocations) = (order, &timeline.allocations);
    // Columns that the page adds come last.
    let added: Vec<_> = ADDED.iter().filter(|(column, _)| request.columns.has(*column)).collect();
    let columns: Vec<_> = ALLOCATIONS.columns.iter().copied().chain(added.iter().map(|(_, name)| *name)).collect();
    Ok(write(Sheet { columns: &columns, ..ALLOCATIONS }, &mut |row| {
        for &id in order.window(0, usize::MAX, &|id| key.of(ready, id)) {
            let (allocation, stack) = (allocations.get(id, device), allocations.allocation_stack(id, device));
            let died = (allocation.died != u32::MAX).then_some(allocation.died);
            let event = |moment: u32| Moment(moment).event_number();
            let origin = allocations.origin(id);
            let added = added.iter().map(|(column, _)| match column {
                Column::Phase => columns::phase(ready, id).map_or(Cell::Nothing, |phase| Cell::text(phase.name())),
                Column::Step => columns::step(ready, id).map_or(Cell::Nothing, Cell::number),
                _ => Cell::number(key.rounding.block_bytes(allocation.size_bytes)),
            });
            let cells = [
                index.clone(),
                Cell::number(allocation.size_bytes),
                if allocations.is_initial(id) { Cell::Nothing } else { Cell::number(event(allocation.born)) },
                died.map(event).into(),
                Cell::number(died.unwrap_or(timeline.events() + 1) - allocation.born),
                Cell::text(ready.categories()[id.index()].name()),
                Cell::Address(allocation.addr),
                stream_of(trace, device, origin).map_or(Cell::Nothing, stream),
                pool_of(trace, device, origin).map_or(Cell::Nothing, pool),
                Cell::stack(stack),
                Cell::text(columns::title(trace, stack)),
                Cell::text(stack_callers(trace, stack)),
            ];
            row(&cells.into_iter().chain(added).collect::<Vec<_>>());
        }
    }))
}

/// Converts a stream to a cell: 0 for the default stream, otherwise its handle.
pub(crate) fn stream(stream: u64) -> Cell<'static> {
    if stream == 0 { Cell::number(0) } else { Cell::text(format::address(stream)) }
}

/// Converts a pool to a cell with its two numbers.
pub(crate) fn pool(PoolId(capture, handle): PoolId) -> Cell<'static> {
    Cell::text(format!("{capture} {handle}"))
}
