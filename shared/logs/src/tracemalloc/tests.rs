//! Tests snapshots that Python 3.13 dumped; `statistics` and `compare_to` of tracemalloc told the figures.

use super::*;
use crate::source::read_file;

/// Snapshots of one run in their order, of a training that keeps what line 13 makes.
const RUN: [&[u8]; 4] = [
    include_bytes!("../../../../tests/data/logs/python3.13-tracemalloc-1.pickle.gz"),
    include_bytes!("../../../../tests/data/logs/python3.13-tracemalloc-2.pickle.gz"),
    include_bytes!("../../../../tests/data/logs/python3.13-tracemalloc-3.pickle.gz"),
    include_bytes!("../../../../tests/data/logs/python3.13-tracemalloc-4.pickle.gz"),
];

/// The last of them, unpacked.
const PLAIN: &[u8] = include_bytes!("../../../fuzz/corpus/log/tracemalloc.pickle");

fn read(bytes: &[u8]) -> TracemallocSnapshot {
    read_file::<TracemallocReader>(bytes, bytes.len())
}

fn run() -> Vec<TracemallocSnapshot> {
    RUN.map(read).to_vec()
}

/// Returns the line, the bytes and the blocks of each sum.
fn figures(sums: &[Placed<'_>]) -> Vec<(u32, u64, u64)> {
    sums.iter().map(|sum| (sum.place.line, sum.total.bytes, sum.total.blocks)).collect()
}

#[test]
fn sums_are_those_of_statistics() {
    let snapshot = read(PLAIN);
    assert_eq!(snapshot, read(RUN[3]), "compressed or not");
    assert_eq!((snapshot.traceback_limit, snapshot.total()), (4, Total { bytes: 46_498, blocks: 398 }));
    assert_eq!(
        figures(&snapshot.by(Grouping::Line))[..4],
        [(13, 39_280, 378), (21, 5_666, 12), (20, 1_024, 1), (17, 328, 1)]
    );
    assert_eq!(figures(&snapshot.by(Grouping::File)), [(0, 46_498, 398)]);
    let frames = snapshot.frames(snapshot.by(Grouping::Line)[0].stack);
    assert_eq!(frames.iter().map(|frame| frame.line).collect::<Vec<_>>(), [13, 20], "the innermost frame first");
}

#[test]
fn differences_are_those_of_compare_to() {
    let run = run();
    let changes = changes(&run[0], &run[3], Grouping::Line);
    let told: Vec<(u32, i64, i64)> = changes.iter().map(|one| (one.place.line, one.bytes(), one.blocks())).collect();
    assert_eq!(told, [(13, 32_092, 316), (20, 768, 0), (21, 48, 1), (17, 0, 0), (9, 0, 0), (18, 0, 0)]);
}

#[test]
fn only_lines_that_grow_each_time_grow_steadily() {
    let run = run();
    let all: Vec<&TracemallocSnapshot> = run.iter().collect();
    let growing = steady_growth(&all);
    assert_eq!(growing.iter().map(|line| line.place.line).collect::<Vec<_>>(), [13]);
    assert_eq!(growing[0].bytes_per_snapshot(), 32_092 / 3);
    assert_eq!(growing[0].blocks_per_snapshot(), 316 / 3);
    assert_eq!(steady_growth(&all[..2]), [], "two snapshots may show a cache that fills");
    assert_eq!(steady_growth(&[all[0], all[3], all[3]]), [], "the growth has ended");
}

#[test]
fn a_part_of_a_snapshot_is_a_lower_bound() {
    let whole = read(PLAIN).total();
    for end in (60..PLAIN.len()).step_by(97).chain([PLAIN.len() - 1]) {
        let snapshot = read(&PLAIN[..end]);
        assert_eq!(snapshot.flaw, Some(Flaw::Cut), "{end}");
        assert!(snapshot.total() <= whole, "{end}");
    }
    let mut damaged = PLAIN.to_vec();
    damaged[2000] = 0xff;
    let snapshot = read(&damaged);
    assert_eq!(
        (snapshot.flaw.clone(), snapshot.total().blocks > 50),
        (Some(Flaw::Damaged(2000)), true),
        "{snapshot:?}"
    );
}

#[test]
fn other_classes_are_refused() {
    let other = |from: &[u8], to: &[u8]| {
        let at = PLAIN.windows(from.len()).position(|window| window == from).unwrap();
        let mut bytes = PLAIN.to_vec();
        bytes.splice(at..at + from.len(), to.iter().copied());
        bytes
    };
    for bytes in [other(b"\x07_Traces", b"\x07_system"), other(b"_Traces\x94\x93", b"_Traces\x94R")] {
        assert!(is_tracemalloc(&bytes));
        let snapshot = read(&bytes);
        assert!(matches!(snapshot.flaw, Some(Flaw::Foreign(_))), "{snapshot:?}");
        assert_eq!(snapshot.total(), Total::default());
    }
    assert!(!is_tracemalloc(&other(b"\x0btracemalloc", b"\x02os")), "another module is another file");
}

#[test]
fn items_that_are_no_traces_are_counted() {
    let pickle = b"\x80\x04\x8c\x0btracemalloc\x8c\x08Snapshot\x93)\x81}(\x8c\x06traces\x8c\x0btracemalloc\x8c\x07_Traces\x93)\x81}\
                 \x8c\x07_traces](K\x00K\x28\x8c\x04a.pyK\x07\x86\x85\x87K\x05Nesb\x8c\x0ftraceback_limitK\x01ub.";
    let snapshot = read(pickle);
    assert_eq!((snapshot.total(), snapshot.unread), (Total { bytes: 40, blocks: 1 }, 2));
    assert_eq!((snapshot.flaw.clone(), snapshot.traceback_limit), (None, 1));
}
