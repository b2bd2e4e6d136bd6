//! Writes tables as they are on the screen to files, with the same filter and order, and all rows.

use super::allocations::{pool, stream};
use super::ready::Ready;
use super::segments::at;
use super::sheets::{DIFFERENCES, FUNCTIONS, SEGMENTS, Write, functions};
use super::{Engine, allocations, compare, flame, no_device};
use frontend::ask::differences::{Entry, entries, shown};
use frontend::ask::site_table::{shown as shown_sites, site_name};
use frontend::ask::{DiffBy, DiffData, Instant, SheetOf, SheetOrder};
use shared::base::Moment;
use shared::export;
use shared::export::{Cell, Rows, Sheet, Subject, Table};

/// Returns the bytes of the file; the error is a message for the page if the table cannot be made.
pub(super) fn sheet(engine: &Engine, order: &SheetOrder) -> Result<Vec<u8>, String> {
    let ready = engine.built(order.device).ok_or_else(|| no_device(order.device))?;
    let subject = Subject {
        file: &order.file,
        trace: ready.trace,
        devices: &[(ready.device, ready.timeline)],
        moment: None,
        capacity_bytes: engine.capacity_bytes,
    };
    let write: &Write<'_> = &|sheet, fill| {
        let mut bytes = Vec::new();
        sheet.write(order.format, &subject, fill, |piece: &[u8]| bytes.extend_from_slice(piece));
        bytes
    };
    match &order.of {
        SheetOf::Allocations(request) => allocations::sheet(ready, request, write),
        SheetOf::Sites { source, order: sorted, search } => {
            let sites = flame::sites(ready, source)?;
            let columns = functions(source.selection.weight);
            Ok(write(Sheet { name: FUNCTIONS, columns: &columns }, &mut |row| {
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
            }))
        }
        SheetOf::Segments(instant) => Ok(write(SEGMENTS, &mut |row| segments(ready, *instant, row))),
        SheetOf::Differences { side, other, by, sort, filter } => {
            let diff = compare::difference(ready, *side, other)?;
            let all = entries(&diff, *by);
            let rows = shown(&all, filter, *sort);
            Ok(write(DIFFERENCES, &mut |row| {
                rows.iter().for_each(|&position| difference(&diff, &all[position], *by, row))
            }))
        }
        SheetOf::Findings => {
            let gpus = 0..engine.trace.devices.len() as u32;
            let all: Vec<_> = gpus.filter_map(|position| engine.built(position)).collect();
            let devices: Vec<_> = all.iter().map(|ready| (ready.device, ready.timeline)).collect();
            let mut bytes = Vec::new();
            let sink = |piece: &[u8]| bytes.extend_from_slice(piece);
            export::table(&Subject { devices: &devices, ..subject }, Table::Findings, order.format, sink);
            Ok(bytes)
        }
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
    let matched = entry.stack.map(|_| if entry.note.is_empty() { "same" } else { entry.note });
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
mod tests {
    use crate::engine::Engine;
    use frontend::ask::differences::Sort;
    use frontend::ask::site_table::SiteOrder;
    use frontend::ask::*;
    use shared::analysis::FindingCode;
    use shared::export::TableFormat;
    use shared::trace::{Frame, FrameTable, Trace, text};

    const TRACE: &str = "
    segment_alloc 0x10000000 20MiB
    alloc 0x10000000 2MiB @relu<main
    alloc 0x10200000 3MiB @norm<main
    free 0x10000000
    alloc 0x10500000 1MiB @relu<main
    segment 0x10000000 20MiB
    block 0x10200000 3MiB
    block 0x10500000 1MiB
";

    /// Returns an engine for the trace, in which `relu` has another name.
    fn engine(function: &str) -> Engine {
        let mut trace: Trace = text::parse(TRACE).unwrap();
        let relu = trace.strings.intern("relu");
        let other = trace.strings.intern(function);
        // All frames keep their numbers.
        let mut frames = FrameTable::default();
        for &frame in trace.frames.iter() {
            frames.intern(if frame.name == relu { Frame { name: other, ..frame } } else { frame });
        }
        trace.frames = frames;
        Engine::new(trace)
    }

    #[track_caller]
    fn sheet(engine: &mut Engine, of: SheetOf, format: TableFormat) -> String {
        let order = SheetOrder { device: 0, file: "run.pickle".to_owned(), format, of };
        String::from_utf8(engine.write(&order, &mut |_| ()).unwrap().bytes).unwrap()
    }

    fn csv(engine: &mut Engine, of: SheetOf) -> Vec<Vec<String>> {
        records(&sheet(engine, of, TableFormat::Csv))
    }

    fn sites(search: &str) -> SheetOf {
        let source = FlameSource { selection: SelectionData::whole(), by_line: true, with_runtime: true };
        SheetOf::Sites { source, order: SiteOrder::default(), search: search.to_owned() }
    }

    /// Parses the records of a CSV text strictly by RFC 4180, and removes quotes.
    fn records(text: &str) -> Vec<Vec<String>> {
        let (mut records, mut record, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => record.push(std::mem::take(&mut field)),
                '\r' if !is_quoted => {
                    letters.next();
                    record.push(std::mem::take(&mut field));
                    records.push(std::mem::take(&mut record));
                }
                letter => field.push(letter),
            }
        }
        assert!(field.is_empty() && record.is_empty() && !is_quoted, "the last record is whole");
        records
    }

    fn request(by: Option<GroupBy>) -> TableRequest {
        TableRequest { selection: SelectionData::whole(), by, ..TableRequest::default() }
    }

    #[test]
    fn a_file_has_the_columns_that_the_page_adds() {
        let mut engine = engine("relu");
        let columns = Columns::of([Column::Rounded, Column::Phase, Column::Born]);
        let records = csv(&mut engine, SheetOf::Allocations(TableRequest { columns, ..request(None) }));
        assert_eq!(records[0][records[0].len() - 2..], ["phase", "rounded_bytes"]);
        assert!(records[1..].iter().all(|record| record.len() == records[0].len()), "{records:?}");
        assert_eq!(records[1].last().map(String::as_str), Some("3145728"));
    }

    #[test]
    fn a_file_has_as_many_rows_as_the_table_whatever_page_is_shown() {
        let mut engine = engine("relu");
        for by in [None, Some(GroupBy::Stack), Some(GroupBy::Category)] {
            let page =
                engine.answer(&GetRows { device: 0, request: request(by) }).unwrap().expect("the filter is valid");
            let records = csv(&mut engine, SheetOf::Allocations(request(by)));
            assert_eq!(records.len(), page.row_count as usize + 1, "{records:?}");
            let json: serde_json::Value =
                serde_json::from_str(&sheet(&mut engine, SheetOf::Allocations(request(by)), TableFormat::Json))
                    .unwrap();
            assert_eq!(json["rows"].as_array().unwrap().len(), page.row_count as usize);
            assert_eq!(json["file"], "run.pickle");
        }
    }

    #[test]
    fn a_file_is_filtered_and_sorted_as_the_table_is() {
        let sort = SortBy { column: Column::Bytes, is_rising: true };
        let filter = FilterData { text: "relu".to_owned(), ..FilterData::default() };
        let selection = SelectionData { filter, ..SelectionData::whole() };
        let of = SheetOf::Allocations(TableRequest { selection, sort, ..request(None) });
        let rows = csv(&mut engine("relu"), of);
        assert_eq!(rows[0][..5], ["device", "bytes", "alloc_event", "free_event", "lifetime_events"]);
        let sizes: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
        assert_eq!(sizes, ["1048576", "2097152"]);
        assert_eq!(rows[2][2..5], ["1", "4", "3"], "{rows:?}");
    }

    #[test]
    fn names_with_commas_lines_and_formulas_stay_names() {
        for (name, expected) in [("f(a, b)\n\"c\"", "f(a, b)\n\"c\""), ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")")] {
            let mut engine = engine(name);
            let rows = csv(&mut engine, sites(""));
            assert_eq!(rows.len(), 4, "main, relu and norm");
            assert!(rows.iter().all(|row| row.len() == rows[0].len()));
            assert!(rows.iter().any(|row| row[1] == expected), "{rows:?}");
            let rows = csv(&mut engine, SheetOf::Allocations(request(None)));
            assert_eq!(rows.len(), 4);
            assert!(rows.iter().any(|row| row[10].starts_with(expected)), "{rows:?}");
        }
    }

    #[test]
    fn functions_are_those_that_are_looked_for() {
        let rows = csv(&mut engine("relu"), sites("norm"));
        assert_eq!(rows[0], ["device", "function", "filename", "line", "bytes", "itself", "count"]);
        assert_eq!(rows[1..], [["0", "norm", "main.py", "1", "3145728", "3145728", "1"]]);
    }

    #[test]
    fn segments_are_those_of_the_moment() {
        let mut engine = engine("relu");
        let mut at = |instant| csv(&mut engine, SheetOf::Segments(instant));
        assert_eq!(at(Instant::At(0)).len(), 1, "the head alone");
        let end = at(Instant::End);
        let row = |name: &str| end[1][end[0].iter().position(|column| column == name).unwrap()].as_str();
        assert_eq!(
            (end.len(), row("bytes"), row("used_bytes"), row("free_bytes")),
            (2, "20971520", "4194304", "16777216")
        );
        assert_eq!((row("address"), row("segment_type"), row("event")), ("0x10000000", "large", "5"));
    }

    #[test]
    fn differences_add_up() {
        let mut engine = engine("relu");
        let other = engine.answer(&GetProfile { device: 0, side: CompareSide::Start }).unwrap();
        for by in DiffBy::ALL {
            let of = SheetOf::Differences {
                side: CompareSide::Peak,
                other: Box::new(other.clone()),
                by,
                sort: Sort::default(),
                filter: String::new(),
            };
            let rows = csv(&mut engine, of);
            let changes = rows[1..].iter().map(|row| row[7].parse::<i64>().unwrap()).sum::<i64>();
            assert_eq!(changes, 5 << 20, "{by:?}");
        }
    }

    #[test]
    fn what_can_not_be_written_is_said() {
        let filter = FilterData { text: "(".to_owned(), is_expression: true, ..FilterData::default() };
        let selection = SelectionData { filter, ..SelectionData::whole() };
        let of = SheetOf::Allocations(TableRequest { selection, ..TableRequest::default() });
        let order = SheetOrder { device: 0, file: String::new(), format: TableFormat::Csv, of };
        let write = |order: &SheetOrder| engine("relu").write(order, &mut |_| ());
        assert!(write(&order).unwrap_err().starts_with("invalid regular expression"));
        assert!(write(&SheetOrder { device: 7, ..order }).is_err());
    }

    #[test]
    fn findings_are_those_of_all_gpus() {
        let mut engine = engine("relu");
        let found = loop {
            if let Report::Findings(found) = engine.next_report().expect("findings come") {
                break found;
            }
        };
        let rows = csv(&mut engine, SheetOf::Findings);
        assert_eq!(rows.len(), found.findings.len() + 1);
    }

    #[test]
    fn findings_are_saved_as_they_are_for_the_chosen_card() {
        let mut engine = engine("relu");
        let codes = |engine: &mut Engine| {
            sheet(engine, SheetOf::Findings, TableFormat::Csv).contains(FindingCode::CardTooSmall.name())
        };
        assert!(!codes(&mut engine));
        let report = |engine: &mut Engine| {
            let order = crate::engine::tests::order(ExportForm::Report);
            String::from_utf8(engine.write(&order, &mut |_| ()).expect("a report").bytes).expect("UTF-8")
        };
        let before = report(&mut engine);
        engine.answer(&GetFindings { capacity_bytes: Some(1 << 10) }).unwrap();
        assert!(codes(&mut engine), "the table knows the card");
        assert!(report(&mut engine).len() > before.len(), "the report knows the card");
    }
}
