//! Reports memory that rises much within fewer samples than a climb is judged by.

use super::climb;
use crate::host::{HostLog, Process};
use shared::analysis::{FindingCode, title_of_parts};
use shared::base::{Severity, format};
use shared::report::Finding;
use std::collections::BTreeMap;
use std::ops::Range;

/// Two samples are no course, and more than seven are judged as a climb.
const SAMPLES: Range<usize> = 3..8;

/// The rise must be at least 1/8 of the machine's memory, or 1/16 in five samples or more.
const LEAST_SHARE: (u64, u64) = (8, 16);
const SEVERAL: usize = 5;

/// The rise if the machine's memory is not known, and at least half of what was there.
const MUCH_BYTES: u64 = 1 << 30;

/// Processes of one command line with the same samples, and the sum of their memory at each.
#[derive(Default)]
struct Program<'a> {
    sums: Vec<u64>,
    processes: Vec<&'a Process>,
}

/// Reports the processes of one program that rise most, or else the machine.
pub(super) fn finding(log: &HostLog) -> Option<Finding> {
    let total_bytes = log.machine.total_bytes.or(log.total.map(|total| total.bytes));
    let is_steady = |bytes: &[u64]| SAMPLES.contains(&bytes.len()) && bytes.windows(2).all(|pair| pair[0] < pair[1]);
    let rises = |bytes: &[u64]| {
        let (first, last) = (*bytes.first()?, *bytes.last()?);
        let (rise, is_course) = (last - first.min(last), bytes.len() >= SEVERAL);
        let is_much = match total_bytes {
            Some(total) => rise.saturating_mul(if is_course { LEAST_SHARE.1 } else { LEAST_SHARE.0 }) >= total,
            None => is_course && rise >= MUCH_BYTES.max(first / 2),
        };
        (is_steady(bytes) && is_much).then_some((first, last))
    };
    // Workers have one command line and rise together.
    let mut programs: BTreeMap<(&str, &[u32]), Program<'_>> = BTreeMap::new();
    for process in &log.processes {
        let bytes: Vec<u64> = process.counted_kib().iter().map(|kib| u64::from(*kib) << 10).collect();
        let grows = bytes.first().zip(bytes.last()).is_some_and(|(first, last)| last - (*first).min(*last) >= last / 4);
        if is_steady(&bytes) && grows {
            let Program { sums, processes } = programs.entry((&process.command, &process.samples)).or_default();
            sums.resize(bytes.len(), 0);
            sums.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
            processes.push(process);
        }
    }
    let risen = programs
        .into_values()
        .filter_map(|program| Some((rises(&program.sums)?, program.sums.len(), program.processes)));
    let machine = || Some((rises(&log.machine.used_bytes())?, log.machine.samples.len(), Vec::new()));
    let ((first, last), count, processes) = risen.max_by_key(|((first, last), ..)| last - first).or_else(machine)?;
    let (from, to) = (format::bytes(first), format::bytes(last));
    let (who, name) = match processes.as_slice() {
        [] => ("The machine's memory in use rises".to_owned(), None),
        [one] => ("A process rises".to_owned(), Some(format!(": process {}", one.pid))),
        several => (format!("{} processes alike rise together", several.len()), None),
    };
    let shows = match processes.first() {
        None => "The log has no processes, so that it does not say which one rises.".to_owned(),
        Some(process) if processes.len() > 1 => format!("They are {}.", process.command),
        Some(process) => format!("It is {}.", process.command),
    };
    let advice = if processes.len() > 1 { OF_WORKERS } else { OF_ONE };
    let is_course = count >= SEVERAL && !processes.is_empty() || processes.len() > 1;
    let severity = if total_bytes.is_some_and(|total| last >= total / 2) || is_course {
        Severity::Warning
    } else {
        Severity::Info
    };
    let title = title_of_parts(&format!("{who} from {from} to {to} in {count} samples"), name);
    Some(climb::finding(FindingCode::HostMemoryClimbs, severity, last - first, title, shows, advice))
}

const OF_ONE: &str = "Look at what it collects: predictions of an evaluation, batches or losses in a list, a cache of the data set. Keep \
                      numbers, or write results to files as they come.\n\
                      [record] Sample it for longer: ``snapscope host -o host.csv -- python train.py``.\n\n\
                      At the start of a program, loading a model or a data set looks the same.";

const OF_WORKERS: &str = "Keep samples in arrays instead of Python lists and dictionaries: ``np.array(paths)``, a tensor, Arrow or a file that \
                          is mapped. Workers of a data loader share what their parent has made, until Python counts a \
                          reference to an object, which copies its page.\n\
                          To see whether that is it, let the loader run with `num_workers=0`: one process then has what it needs.\n\
                          [record] Tell shared pages from copies: ``snapscope host -o host.csv -- python train.py``.";
