//! Writes all rows of a table of allocations, in their order, to a file.

use super::cache::{Rows, Table};
use super::columns;
use crate::engine::ready::Ready;
use crate::engine::sheets::{ALLOCATIONS, GROUPS};
use frontend::ask::{Column, Columns, TableRequest};
use shared::analysis::{Label, label, pool_of, stack_callers, stream_of};
use shared::base::{Moment, format};
use shared::export::{Cell, Rows as Out, Sheet};
use shared::trace::PoolId;

/// Columns that a saved table has if the page shows them, with their names; it always has all others.
const ADDED: [(Column, &str); 3] =
    [(Column::Phase, "phase"), (Column::Step, "step"), (Column::Rounded, "rounded_bytes")];

/// Table of which all rows are written.
pub(crate) struct Whole {
    table: Table,
    columns: Columns,
}

impl Whole {
    /// Creates the whole table of a request.
    ///
    /// # Errors
    /// Returns an error message if the filter's text is not valid.
    pub(crate) fn new(ready: Ready<'_>, request: &TableRequest) -> Result<Self, String> {
        Ok(Self { table: Table::new(ready, request)?, columns: request.columns })
    }

    /// Returns the name and the columns of the table; those that the page adds come last.
    pub(crate) fn sheet(&self) -> (&'static str, Vec<&'static str>) {
        let Sheet { name, columns } = match self.table.rows {
            Rows::Allocations(..) => ALLOCATIONS,
            Rows::Groups(_) => return (GROUPS.name, GROUPS.columns.to_vec()),
        };
        let added = ADDED.iter().filter(|(column, _)| self.columns.has(*column)).map(|&(_, name)| name);
        (name, columns.iter().copied().chain(added).collect())
    }

    /// Passes all rows to `out`.
    pub(crate) fn fill(&mut self, ready: Ready<'_>, out: &mut Out<'_>) {
        let device = Cell::number(ready.device.index);
        match &mut self.table.rows {
            Rows::Allocations(order, key) => {
                let columns = self.columns;
                order.window(0, usize::MAX, |id| key.of(ready, id)).iter().for_each(|&id| {
                    let Ready { trace, device: of, timeline, .. } = ready;
                    let allocations = &timeline.allocations;
                    let (allocation, stack) = (allocations.get(id, of), allocations.allocation_stack(id, of));
                    let died = (allocation.died != u32::MAX).then_some(allocation.died);
                    let event = |moment: u32| Moment(moment).event_number();
                    let origin = allocations.origin(id);
                    let added =
                        ADDED.iter().filter(|(column, _)| columns.has(*column)).map(|&(column, _)| match column {
                            Column::Phase => {
                                columns::phase(ready, id).map_or(Cell::Nothing, |phase| Cell::text(phase.name()))
                            }
                            Column::Step => columns::step(ready, id).map_or(Cell::Nothing, Cell::number),
                            _ => Cell::number(key.rounding.block_bytes(allocation.size_bytes)),
                        });
                    let cells = [
                        device.clone(),
                        Cell::number(allocation.size_bytes),
                        if allocations.is_initial(id) { Cell::Nothing } else { Cell::number(event(allocation.born)) },
                        died.map(event).into(),
                        Cell::number(died.unwrap_or(timeline.events() + 1) - allocation.born),
                        Cell::text(ready.categories()[id.index()].name()),
                        Cell::Address(allocation.addr),
                        stream_of(trace, of, origin).map_or(Cell::Nothing, stream),
                        pool_of(trace, of, origin).map_or(Cell::Nothing, pool),
                        Cell::stack(stack),
                        Cell::text(columns::title(trace, stack)),
                        Cell::text(stack_callers(trace, stack)),
                    ];
                    out(&cells.into_iter().chain(added).collect::<Vec<_>>());
                })
            }
            Rows::Groups(groups) => groups.rows.iter().for_each(|group| {
                let Label { title, detail } = label(ready.trace, groups, group.key);
                out(&[
                    device.clone(),
                    Cell::number(group.totals.bytes),
                    Cell::number(group.totals.count),
                    Cell::text(title.as_str()),
                    Cell::some_text(&detail),
                ]);
            }),
        }
    }
}

/// Converts a stream to a cell: 0 for the default stream, otherwise its handle.
pub(crate) fn stream(stream: u64) -> Cell<'static> {
    if stream == 0 { Cell::number(0) } else { Cell::text(format::address(stream)) }
}

/// Converts a pool to a cell with its two numbers.
pub(crate) fn pool(PoolId(capture, handle): PoolId) -> Cell<'static> {
    Cell::text(format!("{capture} {handle}"))
}
