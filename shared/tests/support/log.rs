//! Reads logs from any bytes, and checks what holds for all of them.

use flate2::read::MultiGzDecoder;
use shared::log::{Log, LogReader, is_log};
use shared::report::log_report;
use std::io;

/// Maximum memory per byte of a log, in bytes: a row of five bytes can begin a process.
const MOST_MEMORY_PER_BYTE: u64 = 400;

/// Maximum memory in addition to that, in bytes.
const MOST_MEMORY_APART: u64 = 1 << 20;

/// Returns the maximum memory held at any time while a log of `bytes` bytes is read and diagnosed.
pub(crate) fn most_memory_bytes(bytes: usize) -> u64 {
    MOST_MEMORY_APART + MOST_MEMORY_PER_BYTE * bytes as u64
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
        assert!(
            !finding.title.is_empty() && !finding.title.ends_with('.') && finding.advice.ends_with('.'),
            "{finding:?}"
        );
    }
    for course in log.profile.iter().flat_map(|profile| &profile.courses) {
        assert!(course.events.windows(2).all(|pair| pair[0].time_us <= pair[1].time_us), "events are in order");
    }
    drop(log);
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
