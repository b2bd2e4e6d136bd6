//! Tests tables as CSV and as JSON.

use super::*;
use crate::analysis::{Timeline, naive};
use crate::export::subject::with_subject;
use crate::trace::{Trace, text};
use serde_json::Value;

fn export(trace: &Trace, table: Table, format: TableFormat) -> String {
    let mut bytes = Vec::new();
    let sink = |piece: &[u8]| bytes.extend_from_slice(piece);
    with_subject(trace, |subject| super::table(&subject, table, format, sink));
    String::from_utf8(bytes).unwrap()
}

fn rows(trace: &Trace, table: Table) -> Vec<Value> {
    let document: Value = serde_json::from_str(&export(trace, table, TableFormat::Json)).unwrap();
    assert_eq!((document["file"].as_str(), document["table"].as_str()), (Some("run.pickle"), Some(table.name())));
    document["rows"].as_array().unwrap().clone()
}

/// Parses CSV into lines of fields, by the rules of RFC 4180.
fn fields(text: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let (mut letters, mut is_quoted) = (text.chars().peekable(), false);
    while let Some(letter) = letters.next() {
        let field = lines.last_mut().unwrap().last_mut().unwrap();
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => lines.last_mut().unwrap().push(String::new()),
            '\r' if !is_quoted && letters.next_if_eq(&'\n').is_some() => lines.push(vec![String::new()]),
            letter => field.push(letter),
        }
    }
    assert_eq!(lines.pop(), Some(vec![String::new()]), "the last line ends");
    lines
}

const TRACE: &str = "
    segment_alloc S 2MiB t=10
    alloc a 512 @relu<forward<main t=11
    alloc b 1KiB t=12
    free_completed a t=13
    oom 4GiB free=1MiB t=14
    segment S 2MiB
    block b 1KiB requested=1000
    block old 4KiB @init
";

#[test]
fn both_forms_say_the_same() {
    for seed in 0..12 {
        let trace = naive::random_trace(seed, 300);
        for table in Table::ALL {
            let rows = rows(&trace, table);
            let lines = fields(&export(&trace, table, TableFormat::Csv));
            assert_eq!(lines[0], table.columns());
            assert_eq!(lines.len(), rows.len() + 1, "{table:?} of seed {seed}");
            for (line, row) in lines[1..].iter().zip(&rows) {
                assert_eq!(line.len(), table.columns().len());
                for (column, field) in table.columns().iter().zip(line) {
                    match &row[column] {
                        Value::Null => assert_eq!(field, ""),
                        Value::Number(number) => assert_eq!(*field, number.to_string()),
                        Value::Bool(flag) => assert_eq!(*field, flag.to_string()),
                        Value::String(text) => assert_eq!(field.trim_start_matches('\''), text),
                        Value::Array(items) => assert_eq!(field.is_empty(), items.is_empty()),
                        Value::Object(_) => panic!("{column}"),
                    }
                }
            }
        }
    }
}

#[test]
fn stacks_and_categories_add_up_to_the_live_bytes() {
    for seed in 0..12 {
        let trace = naive::random_trace(seed, 300);
        let peak = Timeline::new(&trace, &trace.devices[0]).live_peak().1;
        for table in [Table::Stacks, Table::Categories] {
            let bytes: u64 = rows(&trace, table).iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
            assert_eq!(bytes, peak, "{table:?} of seed {seed}");
        }
    }
}

#[test]
fn an_allocation_names_its_events() {
    let trace = text::parse(TRACE).unwrap();
    let rows = rows(&trace, Table::Allocations);
    let of = |index: usize, field: &str| rows[index][field].clone();
    assert_eq!((of(0, "is_initial"), of(0, "bytes"), of(0, "alloc_event")), (true.into(), 4096.into(), Value::Null));
    assert_eq!((of(1, "alloc_event"), of(1, "free_event")), (1.into(), 3.into()));
    assert_eq!((of(1, "alloc_us"), of(1, "free_us")), (1.into(), 3.into()));
    assert_eq!(of(1, "title"), "relu (main.py:1)");
    assert_eq!((of(2, "bytes"), of(2, "free_event"), of(2, "stack")), (1024.into(), Value::Null, Value::Null));
    let frames = self::rows(&trace, Table::Frames);
    let names = frames.iter().filter(|row| row["stack"] == of(1, "stack")).map(|row| row["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["relu", "forward", "main"]);
}

#[test]
fn an_event_of_running_out_has_free_bytes_in_place_of_an_address() {
    let rows = rows(&text::parse(TRACE).unwrap(), Table::Events);
    assert_eq!((rows[4]["free_bytes"].as_u64(), &rows[4]["address"]), (Some(1 << 20), &Value::Null));
    assert_eq!((rows[1]["time_us"].as_i64(), rows[1]["action"].as_str()), (Some(11), Some("alloc")));
}

#[test]
fn segments_are_those_at_the_end() {
    let rows = rows(&text::parse(TRACE).unwrap(), Table::Segments);
    assert_eq!((rows.len(), rows[0]["bytes"].as_u64(), rows[0]["blocks"].as_u64()), (1, Some(2 << 20), Some(2)));
}

#[test]
fn a_formula_in_a_frame_is_defused_in_csv_alone() {
    let trace = text::parse("alloc a 1 @=1+1").unwrap();
    let lines = fields(&export(&trace, Table::Frames, TableFormat::Csv));
    assert_eq!(lines[1][2], "'=1+1");
    assert_eq!(rows(&trace, Table::Frames)[0]["name"], "=1+1");
}

#[test]
fn markdown_has_a_rule_and_a_line_for_each_row() {
    let trace = text::parse("alloc a 100 @a|b<main\nalloc b 50 @relu\n").unwrap();
    let written = export(&trace, Table::Stacks, TableFormat::Markdown);
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines.len(), 4, "{written}");
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(lines.iter().all(|line| bars(line) == Table::Stacks.columns().len() + 1), "{written}");
    assert!(lines[1].contains("--:") && lines[2].contains("a\\|b"), "{written}");
    let empty = export(&text::parse("").unwrap(), Table::Stacks, TableFormat::Markdown);
    assert_eq!(empty.lines().count(), 2, "{empty}");
}
