//! Tests real files of memray against what memray itself says about them.
//!
//! `memray stats --json` and `memray.FileReader` of the version that wrote each file printed the figures.

use super::*;
use crate::logs::source::{FileReader as _, read_file};

const CAPTURE: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.20-capture.bin");
const OLD_CAPTURE: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.17-capture.bin");
const AGGREGATED: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.20-aggregated.bin");
const OLD_AGGREGATED: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.17-aggregated.bin");
const STATS: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.20-stats.json");
const TABLE: &[u8] = include_bytes!("../../../../tests/data/logs/memray1.20-table.csv");

/// Lines of the script with most of the memory at the peak.
const AT_PEAK: [(&str, u32, u64, u64); 5] = [
    ("train", 31, 20_000_001, 1),
    ("region", 16, 8_388_608, 1),
    ("cache", 8, 6_000_210, 20),
    ("<listcomp>", 5, 1_310_740, 20),
    ("train", 27, 1_000_033, 1),
];

fn read(bytes: &[u8], size: usize) -> Memray {
    read_file::<MemrayReader>(bytes, size)
}

#[track_caller]
fn capture(bytes: &[u8]) -> Capture {
    let Memray::Capture(capture) = read(bytes, bytes.len()) else { panic!("a capture") };
    capture
}

fn at_peak(origins: &Origins) -> Vec<(&str, u32, u64, u64)> {
    let line = |row: &OriginMemory| {
        let place = row.origin.own.expect("a line of the script");
        assert_eq!(origins.names(&place).1, "/tmp/train/train.py");
        (origins.names(&place).0, place.line, row.peak.bytes, row.peak.count)
    };
    origins.rows[..5].iter().map(line).collect()
}

#[test]
fn the_peak_is_that_of_memray() {
    for bytes in [CAPTURE, OLD_CAPTURE, AGGREGATED, OLD_AGGREGATED] {
        let capture = capture(bytes);
        assert_eq!(at_peak(&capture.origins), AT_PEAK);
        assert_eq!(capture.ending, Ending::Whole);
        assert_eq!(capture.peak_bytes, 36_701_986);
        assert_eq!(capture.origins.peak_bytes(), capture.peak_bytes);
    }
}

#[test]
fn what_was_not_freed_and_what_was_allocated_in_all_are_those_of_memray() {
    let capture = capture(CAPTURE);
    let of = |line: u32| {
        let row = capture.origins.rows.iter().find(|row| row.origin.own.is_some_and(|own| own.line == line)).unwrap();
        (row.end.bytes, row.all.bytes, row.all.count)
    };
    assert_eq!(of(8), (6_000_210, 6_000_210, 20));
    assert_eq!(of(27), (0, 20_000_660, 20));
    assert_eq!(of(12), (0, 10_000_005, 5));
    let counts: u64 = capture.origins.rows.iter().map(|row| row.all.count).sum();
    let bytes: u64 = capture.origins.rows.iter().map(|row| row.all.bytes).sum();
    let Memray::Stats(stats) = read(STATS, 99) else { panic!("figures") };
    assert_eq!((counts, bytes), (stats.total_num_allocations, stats.total_bytes_allocated));
    assert_eq!(stats.metadata.peak_memory, capture.peak_bytes);
}

#[test]
fn samples_have_dates() {
    let capture = capture(CAPTURE);
    let Header { format, start_ms, events, ref command, python, .. } = capture.header;
    assert_eq!((format, start_ms, events), (13, 1_795_478_154_278, 133));
    assert_eq!((command.as_str(), python), ("train.py memray1.20-capture.bin", Some(Python { major: 3, minor: 11 })));
    let (first, last) = (capture.samples[0], capture.samples[10]);
    assert_eq!(first, Sample { time_ms: start_ms, resident_bytes: 22_867_968, heap_bytes: 0 });
    assert_eq!((capture.samples.len(), last.time_ms, last.heap_bytes), (11, 1_795_478_154_427, 7_002_637));
}

#[test]
fn a_file_is_the_same_in_chunks() {
    for bytes in [CAPTURE, OLD_CAPTURE, OLD_AGGREGATED, STATS, TABLE] {
        for size in [1, 100] {
            assert_eq!(read(bytes, size), read(bytes, bytes.len()), "in chunks of {size}");
        }
    }
}

#[test]
fn a_table_has_what_was_at_the_peak() {
    let Memray::Table(table) = read(TABLE, 1000) else { panic!("a table") };
    assert_eq!((table.stacks, table.amount.bytes, table.unread), (10, 36_701_986, 0));
    assert_eq!(at_peak(&table.origins), AT_PEAK);
}

#[test]
fn rows_of_tables_may_have_quotes() {
    let head = "allocator,num_allocations,size,tid,thread_name,stack_trace\r\n";
    let row = "MALLOC,2,64,1,\"0x1 (a, b)\",\"f<int, \"\"x\"\">;a.cpp;7|step;train.py;12\"\r\n";
    let Memray::Table(table) = read((head.to_owned() + row + "damaged\r\n").as_bytes(), 9) else { panic!("a table") };
    assert_eq!((table.stacks, table.unread), (1, 1));
    let Origin { innermost, own } = table.origins.rows[0].origin;
    let names = [innermost, own].map(|place| place.map(|place| (table.origins.names(&place), place.line)).unwrap());
    assert_eq!(names, [(("f<int, \"x\">", "a.cpp"), 7), (("step", "train.py"), 12)]);
}

#[test]
fn a_cut_capture_keeps_what_it_has() {
    let mut unpacked = Vec::new();
    lz4::Lz4::default().push(CAPTURE, |part| unpacked.extend_from_slice(part));
    let whole = capture(CAPTURE);
    assert_eq!(whole.bytes, unpacked.len() as u64);
    let end = unpacked.iter().rposition(|byte| *byte != 0).expect("records");
    unpacked.truncate(end * 19 / 20);
    // A process that is killed leaves zeros behind.
    unpacked.resize(unpacked.len() + 4096, 0);
    let cut = capture(&unpacked);
    assert_eq!(cut.ending, Ending::Cut);
    assert!((4..whole.samples.len()).contains(&cut.samples.len()), "{} samples", cut.samples.len());
    assert_eq!(whole.samples[..cut.samples.len()], cut.samples);
    assert_eq!(capture(&CAPTURE[..900]).ending, Ending::Cut);
    let mut damaged = CAPTURE.to_vec();
    damaged[600..700].fill(0xff);
    assert_eq!(capture(&damaged).ending, Ending::Damaged);
}

#[test]
fn formats_of_the_future_are_named() {
    let capture = capture(b"memray\0\x0e\0\0\0what follows");
    assert_eq!((capture.header.format, capture.ending), (14, Ending::UnknownFormat));
}

#[test]
fn other_files_are_not_of_memray() {
    for bytes in
        [&b""[..], b"memray", b"\x04\x22\x4d\x18\x40\x40\xc0\x08\0\0\0\x35abc", b"{\"total\": 1}", b"allocator,"]
    {
        assert!(MemrayReader::begin(bytes).is_none(), "{bytes:?}");
    }
}
