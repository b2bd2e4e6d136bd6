//! Writes tables as they are on the screen to files, with the same filter and order, and all rows.

use super::allocations::{Whole, pool, stream};
use super::flame::Flame;
use super::ready::Ready;
use super::segments::at;
use super::sheets::{DIFFERENCES, FUNCTIONS, SEGMENTS, functions};
use super::{Engine, compare};
use frontend::ask::differences::{Entry, entries, shown};
use frontend::ask::site_table::{shown as shown_sites, site_name};
use frontend::ask::{DiffBy, DiffData, Instant, Matched, SheetOf, SheetOrder};
use shared::base::Moment;
use shared::export;
use shared::export::{Cell, Rows, Sheet, Subject, Table};

/// Returns the bytes of the file.
///
/// # Errors
/// Returns an error message for the page if the table cannot be made.
pub(super) fn sheet(engine: &Engine, order: &SheetOrder) -> Result<Vec<u8>, String> {
    let Some(ready) = engine.built(order.device) else {
        return Err(format!("there is no device at position {}", order.device));
    };
    let out = Out { order, ready };
    match &order.of {
        SheetOf::Allocations(request) => {
            let mut whole = Whole::new(ready, request)?;
            let (name, columns) = whole.sheet();
            Ok(out.write(Sheet { name, columns: &columns }, |row| whole.fill(ready, row)))
        }
        SheetOf::Sites { source, order: sorted, search } => {
            let sites = Flame { ready, device: order.device }.sites(source)?;
            let columns = functions(source.selection.weight);
            let fill = |row: &mut Rows<'_>| {
                for position in shown_sites(&sites, *sorted, search) {
                    let found = &sites.rows[position];
                    row(&[
                        Cell::number(ready.device.index),
                        Cell::text(site_name(&found.site)),
                        Cell::some_text(&found.site.filename),
                        if found.site.line == 0 { Cell::Nothing } else { Cell::number(found.site.line) },
                        Cell::number(found.total.weight),
                        Cell::number(found.own.weight),
                        Cell::number(found.total.count),
                    ]);
                }
            };
            Ok(out.write(Sheet { name: FUNCTIONS, columns: &columns }, fill))
        }
        SheetOf::Segments(instant) => Ok(out.write(SEGMENTS, |row| segments(ready, *instant, row))),
        SheetOf::Differences { side, other, by, sort, filter } => {
            let diff = compare::difference(ready, *side, other).ok_or("there is no such moment or step")?;
            let all = entries(&diff, *by);
            let rows = shown(&all, filter, *sort);
            Ok(out.write(DIFFERENCES, |row| {
                rows.iter().for_each(|&position| difference(&diff, &all[position], *by, row))
            }))
        }
        SheetOf::Findings => {
            let gpus = engine.trace.devices.len() as u32;
            let all: Vec<_> = (0..gpus).filter_map(|position| engine.built(position)).collect();
            let devices: Vec<_> = all.iter().map(|ready| (ready.device, ready.timeline)).collect();
            let subject = Subject {
                file: &order.file,
                trace: &engine.trace,
                devices: &devices,
                moment: None,
                capacity_bytes: engine.capacity_bytes,
            };
            let mut bytes = Vec::new();
            let sink = |piece: &[u8]| bytes.extend_from_slice(piece);
            export::table(&subject, Table::Findings, order.format, sink);
            Ok(bytes)
        }
    }
}

struct Out<'a> {
    order: &'a SheetOrder,
    ready: Ready<'a>,
}

impl Out<'_> {
    fn write(&self, sheet: Sheet<'_>, fill: impl FnOnce(&mut Rows<'_>)) -> Vec<u8> {
        let Ready { trace, device, timeline, .. } = self.ready;
        let devices = &[(device, timeline)];
        let subject = Subject { file: &self.order.file, trace, devices, moment: None, capacity_bytes: None };
        let mut bytes = Vec::new();
        let sink = |piece: &[u8]| bytes.extend_from_slice(piece);
        sheet.write(self.order.format, &subject, fill, sink);
        bytes
    }
}

fn segments(ready: Ready<'_>, instant: Instant, row: &mut Rows<'_>) {
    let (_, map) = at(ready, instant);
    for segment in &map.segments {
        let is_range = segment.home != segment.at.addr;
        row(&[
            Cell::number(ready.device.index),
            Cell::number(Moment(map.moment).event_number()),
            Cell::Address(segment.at.addr),
            Cell::number(segment.at.end() - segment.at.addr),
            Cell::number(segment.used_bytes),
            Cell::number(segment.free_bytes()),
            Cell::number(segment.largest_free_bytes),
            Cell::number(segment.blocks.len() as u64),
            Cell::text(segment.at.segment_type.name()),
            stream(segment.at.stream),
            segment.at.pool.map_or(Cell::Nothing, pool),
            if is_range { Cell::Address(segment.home) } else { Cell::Nothing },
        ]);
    }
}

fn difference(diff: &DiffData, entry: &Entry, by: DiffBy, row: &mut Rows<'_>) {
    let event = |moment: u32| Cell::number(Moment(moment).event_number());
    let matched = entry.stack.map(|position| match diff.found.rows[position].matched {
        Matched::Same => "same",
        Matched::MovedLines => "lines moved",
        Matched::Place => "other calls",
        Matched::OnlyBefore => "only other",
        Matched::OnlyAfter => "only this",
    });
    let category = if by == DiffBy::Category { entry.title.as_str() } else { entry.category };
    let change = &entry.change;
    row(&[
        event(diff.moment),
        event(diff.other_moment),
        Cell::text(entry.title.as_str()),
        Cell::some_text(&entry.leaf),
        Cell::some_text(&entry.place),
        Cell::some_text(category),
        matched.map_or(Cell::Nothing, Cell::text),
        Cell::number(change.bytes()),
        Cell::number(change.before_bytes),
        Cell::number(change.after_bytes),
        Cell::number(change.count()),
        Cell::number(change.before_count),
        Cell::number(change.after_count),
        Cell::some_text(&entry.differs),
    ]);
}

#[cfg(test)]
mod tests;
