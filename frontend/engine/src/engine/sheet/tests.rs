//! Tests that files of tables have the rows of the tables, and nothing that a spreadsheet would execute.

use crate::engine::Engine;
use frontend::ask::differences::Sort;
use frontend::ask::site_table::SiteOrder;
use frontend::ask::{
    Answers as _, Axis, Column, Columns, CompareSide, DiffBy, ExportForm, ExportOrder, FilterData, FlameSource,
    GetFindings, GetProfile, GetRows, GroupBy, Instant, Part, Report, ScopeData, SelectionData, SheetOf, SheetOrder,
    Sort as RowSort, TableRequest, Writes as _,
};
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

fn whole() -> SelectionData {
    let scope = ScopeData::Within { axis: Default::default(), x0: 0.0, x1: f64::MAX, part: Part::Any };
    SelectionData { scope, ..SelectionData::default() }
}

fn request(by: Option<GroupBy>) -> TableRequest {
    TableRequest { selection: whole(), by, ..TableRequest::default() }
}

#[test]
fn a_file_has_the_columns_that_the_page_adds() {
    let mut engine = engine("relu");
    let columns = Columns::of([Column::Rounded, Column::Phase, Column::Born]);
    let csv = sheet(&mut engine, SheetOf::Allocations(TableRequest { columns, ..request(None) }), TableFormat::Csv);
    let records = records(&csv);
    assert_eq!(records[0][records[0].len() - 2..], ["phase", "rounded_bytes"]);
    assert!(records[1..].iter().all(|record| record.len() == records[0].len()), "{csv}");
    assert_eq!(records[1].last().map(String::as_str), Some("3145728"));
}

#[test]
fn a_file_has_as_many_rows_as_the_table_whatever_page_is_shown() {
    let mut engine = engine("relu");
    for by in [None, Some(GroupBy::Stack), Some(GroupBy::Category)] {
        let page = engine.answer(&GetRows { device: 0, request: request(by) }).unwrap().expect("the filter is valid");
        let csv = sheet(&mut engine, SheetOf::Allocations(request(by)), TableFormat::Csv);
        assert_eq!(records(&csv).len(), page.row_count as usize + 1, "{csv}");
        let json: serde_json::Value =
            serde_json::from_str(&sheet(&mut engine, SheetOf::Allocations(request(by)), TableFormat::Json)).unwrap();
        assert_eq!(json["rows"].as_array().unwrap().len(), page.row_count as usize);
        assert_eq!(json["file"], "run.pickle");
    }
}

#[test]
fn a_file_is_filtered_and_sorted_as_the_table_is() {
    let sort = RowSort { column: Column::Bytes, is_rising: true };
    let filter = FilterData { text: "relu".to_owned(), ..FilterData::default() };
    let selection = SelectionData { filter, ..whole() };
    let csv = sheet(
        &mut engine("relu"),
        SheetOf::Allocations(TableRequest { selection, sort, ..request(None) }),
        TableFormat::Csv,
    );
    let rows = records(&csv);
    assert_eq!(rows[0][..5], ["device", "bytes", "alloc_event", "free_event", "lifetime_events"]);
    let sizes: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(sizes, ["1048576", "2097152"]);
    assert_eq!(rows[2][2..5], ["1", "4", "3"], "{csv}");
}

#[test]
fn names_with_commas_lines_and_formulas_stay_names() {
    for (name, expected) in [("f(a, b)\n\"c\"", "f(a, b)\n\"c\""), ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")")] {
        let mut engine = engine(name);
        let source = FlameSource { selection: whole(), by_line: true, with_runtime: true };
        let of = SheetOf::Sites { source, order: SiteOrder::default(), search: String::new() };
        let rows = records(&sheet(&mut engine, of, TableFormat::Csv));
        assert_eq!(rows.len(), 4, "main, relu and norm");
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        assert!(rows.iter().any(|row| row[1] == expected), "{rows:?}");
        let rows = records(&sheet(&mut engine, SheetOf::Allocations(request(None)), TableFormat::Csv));
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().any(|row| row[10].starts_with(expected)), "{rows:?}");
    }
}

#[test]
fn functions_are_those_that_are_looked_for() {
    let source = FlameSource { selection: whole(), by_line: true, with_runtime: true };
    let of = SheetOf::Sites { source, order: SiteOrder::default(), search: "norm".to_owned() };
    let rows = records(&sheet(&mut engine("relu"), of, TableFormat::Csv));
    assert_eq!(rows[0], ["device", "function", "filename", "line", "bytes", "itself", "count"]);
    assert_eq!(rows[1..], [["0", "norm", "main.py", "1", "3145728", "3145728", "1"]]);
}

#[test]
fn segments_are_those_of_the_moment() {
    let mut engine = engine("relu");
    let mut at = |instant| records(&sheet(&mut engine, SheetOf::Segments(instant), TableFormat::Csv));
    assert_eq!(at(Instant::At(0)).len(), 1, "the head alone");
    let end = at(Instant::End);
    let row = |name: &str| end[1][end[0].iter().position(|column| column == name).unwrap()].as_str();
    assert_eq!((end.len(), row("bytes"), row("used_bytes"), row("free_bytes")), (2, "20971520", "4194304", "16777216"));
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
        let rows = records(&sheet(&mut engine, of, TableFormat::Csv));
        let changes = rows[1..].iter().map(|row| row[7].parse::<i64>().unwrap()).sum::<i64>();
        assert_eq!(changes, 5 << 20, "{by:?}");
    }
}

#[test]
fn what_can_not_be_written_is_said() {
    let filter = FilterData { text: "(".to_owned(), is_expression: true, ..FilterData::default() };
    let selection = SelectionData { filter, ..whole() };
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
    let rows = records(&sheet(&mut engine, SheetOf::Findings, TableFormat::Csv));
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
        let order = ExportOrder {
            form: ExportForm::Report,
            file: String::new(),
            device: 0,
            moment: None,
            axis: Axis::Events,
            range: None,
            is_dark: false,
            is_clean: false,
        };
        String::from_utf8(engine.write(&order, &mut |_| ()).expect("a report").bytes).expect("UTF-8")
    };
    let before = report(&mut engine);
    engine.answer(&GetFindings { capacity_bytes: Some(1 << 10) }).unwrap();
    assert!(codes(&mut engine), "the table knows the card");
    assert!(report(&mut engine).len() > before.len(), "the report knows the card");
}
