//! Draws and lists the processes of a log of host memory, and what their memory consists of.

use crate::host::{Clock, Family, HostLog, Mapping, Process, Total, TotalSource, families, sums, unmapped};
use crate::source::bytes_cell;
use shared::base::{ShortSort, format};
use shared::report::{LogCell, LogCurves, LogLimit, LogSeries, LogTable, MOST_TIMES, extremes};
use std::cmp::Reverse;

/// Largest number of groups that have a curve of their own.
const MOST_SERIES: usize = 6;

/// Returns the words for the memory that the processes share.
pub(super) fn total(Total { bytes, source }: Total) -> String {
    let total = format::bytes(bytes);
    match source {
        TotalSource::Stated => format!("the machine has {total}"),
        TotalSource::Inferred => format!("the machine has {total} (inferred from its percentages)"),
        TotalSource::ControlGroup => format!("the control group's limit is {total}"),
    }
}

/// Returns the memory of processes over time; `None` without samples.
pub(super) fn curves(log: &HostLog) -> Option<LogCurves> {
    let count = log.times_ms.len();
    if count == 0 || (log.processes.is_empty() && !log.machine.samples.is_empty()) {
        return None;
    }
    let groups = groups(log);
    let unmapped = unmapped(log);
    let of_files = unmapped.is_some().then(|| "Files in /dev/shm that no process has mapped".to_owned());
    let sums: Vec<Vec<u64>> = groups.iter().map(|(_, processes)| sums(log, processes)).chain(unmapped).collect();
    let shown = extremes(count, MOST_TIMES, |at| sums.iter().map(|sums| sums[at]).fold(0, u64::saturating_add));
    Some(LogCurves {
        quantity: quantity(log).to_owned(),
        is_stacked: true,
        series: groups
            .into_iter()
            .map(|(name, _)| name)
            .chain(of_files)
            .zip(&sums)
            .map(|(name, sums)| LogSeries { name, bytes: shown.iter().map(|&at| sums[at]).collect() })
            .collect(),
        limit: log.total.map(|total| LogLimit {
            name: match total.source {
                TotalSource::ControlGroup => "Limit of the control group".to_owned(),
                TotalSource::Stated | TotalSource::Inferred => "Memory of the machine".to_owned(),
            },
            bytes: total.bytes,
        }),
        kills_us: log
            .kills
            .iter()
            .filter_map(|kill| log.times_ms.get(kill.sample? as usize).map(|ms| ms.saturating_mul(1000)))
            .collect(),
        ..at_times(log, shown.iter().map(|&at| log.times_ms[at]))
    })
}

/// Returns curves without series at these times of the log.
pub(super) fn at_times(log: &HostLog, times_ms: impl Iterator<Item = i64>) -> LogCurves {
    LogCurves {
        has_dates: log.clock == Clock::Dates,
        zone_us: log.zone_min * 60_000_000,
        has_times: log.clock != Clock::Samples,
        times_us: times_ms.map(|ms| ms.saturating_mul(1000)).collect(),
        ..LogCurves::default()
    }
}

/// Groups processes for curves: of each large family its first process and all others, then whatever else there is.
fn groups(log: &HostLog) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut rest: Vec<usize> = Vec::new();
    for Family { name, mut processes, .. } in families(log) {
        processes.sort_unstable();
        // Not every log has the names of programs.
        let (family, process) = if name.is_empty() { (name, "Process") } else { (name + ", ", "process") };
        match processes.as_slice() {
            _ if groups.len() >= MOST_SERIES => rest.extend(processes),
            [] => {}
            [first, others @ ..] => {
                groups.push((format!("{family}{process} {}", log.processes[*first].pid), vec![*first]));
                if !others.is_empty() {
                    groups.push((format!("{family}{} more", others.len()), others.to_vec()));
                }
            }
        }
    }
    let named: std::collections::HashSet<usize> = groups.iter().flat_map(|(_, processes)| processes).copied().collect();
    rest.extend((0..log.processes.len()).filter(|process| !named.contains(process)));
    rest.sort_unstable();
    rest.dedup();
    if !rest.is_empty() {
        groups.push((format!("All others ({})", rest.len()), rest));
    }
    groups
}

const LONGEST_COMMAND: usize = 120;

fn quantity(log: &HostLog) -> &'static str {
    if log.processes.iter().all(Process::has_pss) { "PSS" } else { "RSS" }
}

/// Lists the processes, those with the most memory first; `None` if there are none.
pub(super) fn processes(log: &HostLog) -> Option<LogTable> {
    if log.processes.is_empty() {
        return None;
    }
    let peak = |process: &Process| process.counted_kib().iter().max().map_or(0, |kib| u64::from(*kib) << 10);
    let mut processes: Vec<&Process> = log.processes.iter().collect();
    processes.short_sort_by_key(|process| Reverse(peak(process)));
    let row = |process: &&Process| {
        let ends = |kib: &[u32]| kib.first().zip(kib.last()).map(|(first, last)| (u64::from(*first), u64::from(*last)));
        let (first, last) = ends(process.counted_kib()).unwrap_or_default();
        vec![
            pid(process.pid),
            command(process),
            LogCell::Bytes(peak(process)),
            LogCell::Bytes(first << 10),
            LogCell::Bytes(last << 10),
            LogCell::Count(process.samples.len() as u64),
        ]
    };
    let of = |name: &str| format!("{name} {}", quantity(log));
    let columns =
        ["PID".to_owned(), "Command".to_owned(), of("Highest"), of("First"), of("Last"), "Samples".to_owned()];
    Some(LogTable::new("Processes", columns, processes.iter().map(row)))
}

/// Returns the number of a process; tables of memory_profiler have none.
fn pid(pid: u32) -> LogCell {
    if pid == 0 { LogCell::Nothing } else { LogCell::Count(u64::from(pid)) }
}

/// Returns the command of a process, which not every log has.
fn command(process: &Process) -> LogCell {
    match process.command.as_str() {
        "" => LogCell::Nothing,
        command => LogCell::Text(command.chars().take(LONGEST_COMMAND).collect()),
    }
}

/// Lists what the memory of each process consists of at its last sample, those with the most memory first; `None` if the
/// log does not have it.
///
/// There is a column of pinned memory only if there is such memory.
pub(super) fn kinds(log: &HostLog) -> Option<LogTable> {
    let kib_cell = |kib: &[u32]| bytes_cell(kib.last().map(|kib| u64::from(*kib) << 10));
    let has_pinned = log.processes.iter().any(|process| pinned_bytes(process) > 0);
    let row = |process: &Process| {
        let parts = process.parts.as_deref()?;
        let pinned = has_pinned.then(|| LogCell::Bytes(pinned_bytes(process)));
        let counted = process.counted_kib().last().map(|kib| u64::from(*kib) << 10);
        let rest = || Some(counted?.saturating_sub(parts.file_bytes?).saturating_sub(parts.shmem_bytes?));
        let cells = vec![
            pid(process.pid),
            kib_cell(&process.rss_kib),
            kib_cell(&process.pss_kib),
            bytes_cell(parts.uss_bytes),
            bytes_cell(parts.anonymous_bytes.or_else(rest)),
            bytes_cell(parts.file_bytes),
            bytes_cell(parts.shmem_bytes),
        ];
        Some(cells.into_iter().chain(pinned).collect())
    };
    let columns =
        ["PID", "RSS", "PSS", "USS (of no other process)", "Without a file", "Of files", "Shared memory", "Pinned"];
    let columns = &columns[..if has_pinned { 8 } else { 7 }];
    let mut processes: Vec<&Process> = log.processes.iter().collect();
    processes.short_sort_by_key(|process| Reverse(process.counted_kib().last()));
    let rows: Vec<_> = processes.into_iter().filter_map(row).collect();
    let title = "Kinds of memory at the last sample of each process";
    (!rows.is_empty()).then(|| LogTable::new(title, columns.iter().copied(), rows))
}

fn pinned_bytes(process: &Process) -> u64 {
    process.parts.as_deref().and_then(|parts| parts.pinned_bytes).unwrap_or(0)
}

/// Lists the mappings, those with the most memory first; `None` if the log does not have them.
pub(super) fn mappings(log: &HostLog) -> Option<LogTable> {
    let mut mappings: Vec<&Mapping> = log.mappings.iter().collect();
    mappings.short_sort_by_key(|mapping| Reverse((mapping.pss_bytes, mapping.rss_bytes)));
    let row = |mapping: &&Mapping| {
        vec![
            LogCell::Text(mapping.name.chars().take(LONGEST_COMMAND).collect()),
            LogCell::Bytes(mapping.pss_bytes),
            LogCell::Bytes(mapping.rss_bytes),
        ]
    };
    let title = "Mappings of all processes at the last sample";
    let table = || LogTable::new(title, ["Mapping", "PSS", "RSS"], mappings.iter().map(row));
    (!mappings.is_empty()).then(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{HostForm, Parts};

    #[track_caller]
    fn check(pinned_bytes: Option<u64>, last_column: &str, last_cell: LogCell) {
        let parts = Some(Box::new(Parts { shmem_bytes: Some(5), pinned_bytes, ..Parts::default() }));
        let processes = vec![Process { samples: vec![0], rss_kib: vec![9], parts, ..Process::default() }];
        let table = kinds(&HostLog { form: HostForm::Proc, processes, ..HostLog::default() }).unwrap();
        let last = (table.columns.last().map(String::as_str), table.rows[0].last());
        assert_eq!(last, (Some(last_column), Some(&last_cell)));
    }

    #[test]
    fn pinned_memory_has_a_column_where_there_is_some() {
        check(Some(8192), "Pinned", LogCell::Bytes(8192));
        check(Some(0), "Shared memory", LogCell::Bytes(5));
        check(None, "Shared memory", LogCell::Bytes(5));
    }
}
