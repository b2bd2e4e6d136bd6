//! Reports memory that rises much within fewer samples than a climb is judged by.

use super::climb;
use crate::host::HostLog;
use shared::analysis::{FindingCode, title_of_parts};
use shared::base::{Severity, format};
use shared::report::Finding;
use std::ops::Range;

/// Two samples are no course, and more than seven are judged as a climb.
const SAMPLES: Range<usize> = 3..8;

/// The rise must be at least 1/8 of the machine's memory.
const LEAST_SHARE: u64 = 8;

/// Reports the process that rises most, or else the machine.
pub(super) fn finding(log: &HostLog) -> Option<Finding> {
    let total_bytes = log.machine.total_bytes.or(log.total.map(|total| total.bytes))?;
    let rises = |bytes: &[u64]| {
        let (first, last) = (*bytes.first()?, *bytes.last()?);
        let is_steady = SAMPLES.contains(&bytes.len()) && bytes.windows(2).all(|pair| pair[0] < pair[1]);
        (is_steady && (last - first).saturating_mul(LEAST_SHARE) >= total_bytes).then_some((first, last))
    };
    let processes = log.processes.iter().filter_map(|process| {
        let bytes: Vec<u64> = process.counted_kib().iter().map(|kib| u64::from(*kib) << 10).collect();
        Some((rises(&bytes)?, bytes.len(), Some(process)))
    });
    let machine = || Some((rises(&log.machine.used_bytes())?, log.machine.samples.len(), None));
    let ((first, last), count, process) = processes.max_by_key(|((first, last), ..)| last - first).or_else(machine)?;
    let who = if process.is_some() { "A process" } else { "The machine's memory in use" };
    let (from, to) = (format::bytes(first), format::bytes(last));
    let name = process.map(|process| format!(": process {}", process.pid));
    let shows = process.map_or_else(
        || "The log has no processes, so that it does not say which one rises.".to_owned(),
        |process| format!("It is {}.", process.command),
    );
    let advice = "Look at what it collects: predictions of an evaluation, batches or losses in a list, a cache of the data set. Keep \
                  numbers, or write results to files as they come.\n\
                  [record] Sample it for longer: ``snapscope host -o host.csv -- python train.py``.\n\n\
                  At the start of a program, loading a model or a data set looks the same.";
    let severity = if last >= total_bytes / 2 { Severity::Warning } else { Severity::Info };
    let title = title_of_parts(&format!("{who} rises from {from} to {to} in {count} samples"), name);
    Some(climb::finding(FindingCode::HostMemoryClimbs, severity, last - first, title, shows, advice))
}
