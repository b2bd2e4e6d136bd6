//! Draws the processes of a log of host memory.

use crate::base::format;
use crate::logs::host::{Clock, Family, HostLog, Process, Total, TotalSource, families, sums, unmapped};
use crate::report::{LogCurves, LogLimit, LogSeries, MOST_TIMES, extremes};

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
    let is_pss = log.processes.iter().all(Process::has_pss);
    Some(LogCurves {
        quantity: if is_pss { "PSS" } else { "RSS" }.to_owned(),
        is_stacked: true,
        has_steps: false,
        has_dates: log.clock == Clock::Dates,
        zone_us: log.zone_min * 60_000_000,
        has_times: log.clock != Clock::Samples,
        times_us: shown.iter().map(|&at| log.times_ms[at].saturating_mul(1000)).collect(),
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
        lanes: Vec::new(),
    })
}

/// Groups processes for curves: of each large family its first process and all others, then whatever else there is.
fn groups(log: &HostLog) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut rest: Vec<usize> = Vec::new();
    for Family { name, mut processes, .. } in families(log) {
        processes.sort_unstable();
        match processes.as_slice() {
            _ if groups.len() >= MOST_SERIES => rest.extend(processes),
            [] => {}
            [only] => groups.push((first_name(&name, log.processes[*only].pid), vec![*only])),
            [first, others @ ..] => {
                groups.push((first_name(&name, log.processes[*first].pid), vec![*first]));
                groups.push((more_name(&name, others.len()), others.to_vec()));
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

/// Returns the name of a family's first process; not every log has the names of programs.
fn first_name(family: &str, pid: u32) -> String {
    if family.is_empty() { format!("Process {pid}") } else { format!("{family}, process {pid}") }
}

/// Returns the name of a family's other processes.
fn more_name(family: &str, count: usize) -> String {
    if family.is_empty() { format!("{count} more") } else { format!("{family}, {count} more") }
}
