//! Reads logs from any bytes, and checks what holds for all of them.

use flate2::read::MultiGzDecoder;
use logs::tracemalloc::{Grouping, Total, TracemallocSnapshot, changes, steady_growth};
use logs::{Document, Log, LogReader, is_log, log_report, traced_growth};
use shared::analysis::LONGEST_TITLE;
use std::io;

/// Maximum memory per byte of a log, in bytes: a row of five bytes can begin a process.
const MOST_MEMORY_PER_BYTE: u64 = 400;

/// Maximum memory in addition to that, in bytes.
const MOST_MEMORY_APART: u64 = 1 << 20;

/// Returns the maximum memory held at any time while a log is read and diagnosed.
pub(crate) fn most_memory_bytes(bytes: &[u8]) -> u64 {
    MOST_MEMORY_APART + MOST_MEMORY_PER_BYTE * bytes.len() as u64
}

/// Reads a log in one piece and in chunks, and diagnoses it.
///
/// # Panics
/// Panics if the reader or the diagnosis panics, or if the log breaks an invariant.
pub(crate) fn hold(bytes: &[u8]) {
    is_log(bytes);
    let log = read(bytes, bytes.len());
    let samples = log.host.times_ms.len();
    assert!(log.host.times_ms.is_sorted(), "times are ascending");
    for process in &log.host.processes {
        let is_rising = process.samples.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(is_rising && process.samples.last().is_none_or(|last| (*last as usize) < samples), "{process:?}");
        assert_eq!(process.samples.len(), process.rss_kib.len(), "a size for each sample");
        assert!(process.pss_kib.len() <= process.samples.len(), "no more proportional sizes than samples");
    }
    let machine = &log.host.machine;
    assert!(machine.samples.windows(2).all(|pair| pair[0] < pair[1]), "{machine:?}");
    assert!(machine.samples.last().is_none_or(|last| (*last as usize) < samples), "{machine:?}");
    let counts = [machine.available_bytes.len(), machine.swap_bytes.len()];
    assert_eq!(counts, [machine.samples.len(); 2], "values for each sample of the machine");
    let report = log_report(&log);
    let parts = report.curves.iter().flat_map(|curves| [curves.clone(), curves.part(1..i64::MAX, 10)]);
    for curves in parts {
        assert!(curves.times_us.is_sorted(), "times are ascending");
        assert!(
            curves.series.iter().all(|series| series.bytes.len() == curves.times_us.len()),
            "a value for each time"
        );
    }
    for table in &report.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{table:?}");
    }
    for finding in report.diagnosis.findings {
        let is_short = finding.title.chars().count() <= LONGEST_TITLE;
        assert!(!finding.title.is_empty() && !finding.title.ends_with('.') && is_short, "{finding:?}");
        let told = finding.steps.iter().map(|step| &step.text).chain([&finding.why]).filter(|text| !text.is_empty());
        let told: Vec<&str> = told.map(String::as_str).collect();
        assert!(!told.is_empty() && told.iter().all(|text| text.ends_with('.')), "{finding:?}");
        assert_eq!(finding.advice, told.join(" "), "{finding:?}");
    }
    match &log.document {
        Some(Document::Profile(profile)) => {
            for course in &profile.courses {
                assert!(course.events.windows(2).all(|pair| pair[0].time_us <= pair[1].time_us), "events are in order");
            }
        }
        Some(Document::Tracemalloc(snapshot)) => hold_snapshot(snapshot),
        _ => {}
    }
}

/// Checks that lines and files add up to the snapshot, and that it does not differ from itself.
fn hold_snapshot(snapshot: &TracemallocSnapshot) {
    for grouping in [Grouping::Line, Grouping::File] {
        let mut sum = Total::default();
        snapshot.by(grouping).iter().for_each(|placed| sum.add(placed.total));
        assert_eq!(sum, snapshot.total(), "{grouping:?}");
    }
    assert!(changes(snapshot, snapshot, Grouping::Line).iter().all(|change| change.before == change.after));
    assert_eq!(steady_growth(&[snapshot; 3]), [], "what does not change does not grow");
    assert!(traced_growth(&[snapshot; 3]).is_some_and(|report| report.diagnosis.findings.is_empty()));
}

/// Checks that a log is the same whatever the size of its chunks, unless it is a damaged gzip file: how much of one is
/// unpacked before the error depends on the chunks.
///
/// # Panics
/// Panics if it is not.
pub(crate) fn is_same_in_chunks(bytes: &[u8]) {
    if bytes.starts_with(b"\x1f\x8b") && io::copy(&mut MultiGzDecoder::new(bytes), &mut io::sink()).is_err() {
        return;
    }
    let whole = read(bytes, bytes.len());
    for size in [1, 7, 100] {
        assert_eq!(read(bytes, size), whole, "in chunks of {size}");
    }
}

fn read(bytes: &[u8], size: usize) -> Log {
    let mut reader = LogReader::default();
    bytes.chunks(size.max(1)).for_each(|chunk| reader.push(chunk));
    reader.finish()
}
