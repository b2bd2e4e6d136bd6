//! Compares snapshots of tracemalloc with what tracemalloc itself says about them.

use logs::tracemalloc::{Grouping, TracemallocSnapshot, changes};
use logs::{Document, LogReader, is_log};
use testkit::cpython;

/// File, line, bytes and blocks.
type Row = (String, u32, u64, u64);

/// File, line, and the differences of the bytes and of the blocks.
type Difference = (String, u32, i64, i64);

/// Line of `tracemalloc_snapshots.py`: the path, that of the first snapshot of its series, the number of frames, sums by
/// line and by file, and differences from the first snapshot by line.
type Told = (String, String, u64, Vec<Row>, Vec<Row>, Vec<Difference>);

fn read(path: &str) -> TracemallocSnapshot {
    let bytes = std::fs::read(path).expect("the script writes the file");
    assert!(is_log(&bytes[..bytes.len().min(4096)]), "{path}");
    let mut reader = LogReader::default();
    bytes.chunks(1000).for_each(|chunk| reader.push(chunk));
    match reader.finish().document {
        Some(Document::Tracemalloc(snapshot)) => *snapshot,
        other => panic!("{path}: {other:?}"),
    }
}

fn rows(snapshot: &TracemallocSnapshot, grouping: Grouping) -> Vec<Row> {
    let sums = snapshot.by(grouping).into_iter();
    sums.map(|sum| (sum.place.file.to_owned(), sum.place.line, sum.total.bytes, sum.total.blocks)).collect()
}

fn differences(first: &TracemallocSnapshot, snapshot: &TracemallocSnapshot) -> Vec<Difference> {
    let changes = changes(first, snapshot, Grouping::Line).into_iter();
    changes.map(|one| (one.place.file.to_owned(), one.place.line, one.bytes(), one.blocks())).collect()
}

#[test]
fn every_figure_is_that_of_tracemalloc() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let printed = cpython::lines("tracemalloc_snapshots.py", [folder.path()]);
    assert_eq!(printed.len(), 14);
    for line in printed {
        let (path, first, limit, lines, files, changed): Told =
            serde_json::from_str(&line).expect("the script prints JSON");
        let snapshot = read(&path);
        assert_eq!((snapshot.flaw.as_ref(), snapshot.unread, snapshot.traceback_limit), (None, 0, limit), "{path}");
        assert_eq!(rows(&snapshot, Grouping::Line), lines, "{path}");
        assert_eq!(rows(&snapshot, Grouping::File), files, "{path}");
        assert_eq!(differences(&read(&first), &snapshot), changed, "{path}");
    }
}
