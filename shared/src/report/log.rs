//! Builds the report on a log: what it is, curves of memory over time, findings and tables.

use super::card;
use super::counted;
use super::diagnosis::Diagnosis;
use super::host::{self, host_diagnosis};
use super::log_curves::{LogCurves, LogLimit, LogSeries, MOST_TIMES, extremes};
use super::log_table::{LogCell, LogNotice, LogOwners, LogTable};
use super::printed::{self, printed_diagnosis};
use super::profile;
use crate::base::{Severity, format};
use crate::host::{Clock, Family, HostLog, Process, Total, TotalSource, families, sums};
use crate::log::Log;
use crate::printed::Printed;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Report on a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Kind of the log, and how much it has, such as `Host memory, ps: 250 samples of 8 processes in 2 h 5 min`.
    pub title: String,
    /// Facts that belong to the title, such as the memory of the machine.
    pub facts: Vec<String>,
    /// Curves of the whole log, one chart each.
    pub curves: Vec<LogCurves>,
    /// Memory of a GPU by owner, for each of the first out-of-memory errors, and at the end of a log of nvidia-smi.
    pub owners: Vec<LogOwners>,
    pub diagnosis: Diagnosis,
    pub tables: Vec<LogTable>,
    /// What was odd or left out.
    pub notices: Vec<LogNotice>,
}

/// Largest number of groups that have a curve of their own.
const MOST_SERIES: usize = 6;

/// Largest number of errors whose owners are drawn.
const MOST_OWNERS: usize = 8;

/// Largest number of rows of a table.
const MOST_ROWS: usize = 200;

/// Reports on a log.
pub fn log_report(log: &Log) -> LogReport {
    let (has_host, printed) = (log.has_host(), &log.printed);
    let mut diagnosis = printed_diagnosis(printed);
    diagnosis.findings.extend(card::findings(&log.cards));
    diagnosis.findings.extend(log.profile.iter().flat_map(|profile| profile::findings(profile)));
    if has_host {
        diagnosis.findings.extend(host_diagnosis(&log.host).findings);
        diagnosis.findings.sort_by_key(|finding| Reverse(finding.severity));
    }
    let notices = log.host.diagnostics.iter().filter(|_| has_host);
    let mut notices: Vec<LogNotice> =
        notices.map(|one| LogNotice { severity: one.severity, message: one.message.clone() }).collect();
    if log.cards.left_out > 0 {
        let left_out = format::counted(log.cards.left_out, "sample");
        let message = format!("The log of nvidia-smi is longer than can be kept, without {left_out} at its end.");
        notices.push(LogNotice { severity: Severity::Warning, message });
    }
    if printed.left_out > 0 {
        let left_out = format::counted(printed.left_out, "more error");
        notices
            .push(LogNotice { severity: Severity::Info, message: format!("{left_out} of the text are not listed.") });
    }
    notices.extend(log.profile.iter().flat_map(|profile| profile::notices(profile)));
    LogReport {
        title: titles(log, has_host),
        facts: if has_host { log.host.total.map(total).into_iter().collect() } else { Vec::new() },
        curves: curves_of(log, has_host),
        owners: owners(log),
        diagnosis,
        tables: tables(log, has_host),
        notices,
    }
}

fn titles(log: &Log, has_host: bool) -> String {
    let titles = [
        has_host.then(|| host::title(&log.host)),
        (!log.cards.is_empty()).then(|| card::title(&log.cards)),
        (!log.printed.is_empty()).then(|| printed_title(&log.printed)),
        log.profile.as_ref().map(|profile| profile::title(profile)),
    ];
    titles.into_iter().flatten().collect::<Vec<_>>().join(". ")
}

fn curves_of(log: &Log, has_host: bool) -> Vec<LogCurves> {
    let texts = [has_host.then(|| curves(&log.host)).flatten(), card::curves(&log.cards)];
    let of_profile = log.profile.iter().flat_map(|profile| profile::curves(profile));
    texts.into_iter().flatten().chain(of_profile).collect()
}

fn owners(log: &Log) -> Vec<LogOwners> {
    let of_errors = log.printed.ooms.iter().filter_map(|oom| printed::owners_at(&oom.error));
    of_errors.chain(log.cards.cards.iter().filter_map(card::owners)).take(MOST_OWNERS).collect()
}

fn printed_title(printed: &Printed) -> String {
    let count = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {more}")),
    };
    let parts = [
        count(printed.ooms.len(), "out-of-memory error", "out-of-memory errors"),
        count(printed.host_errors.len(), "other error", "other errors"),
        count(printed.counters.len(), "set of counters", "sets of counters"),
        count(printed.line_uses.len(), "line of memory_profiler", "lines of memory_profiler"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("What was printed about memory: {}", parts.join(", "))
}

fn total(Total { bytes, source }: Total) -> String {
    let total = format::bytes(bytes);
    match source {
        TotalSource::Stated => format!("the machine has {total}"),
        TotalSource::Inferred => format!("the machine has {total} (inferred from its percentages)"),
        TotalSource::ControlGroup => format!("the control group's limit is {total}"),
    }
}

impl LogReport {
    /// Returns true if the log says nothing about memory.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.diagnosis.findings.is_empty() && self.tables.is_empty()
    }
}

/// Returns the memory of processes over time; `None` without samples.
fn curves(log: &HostLog) -> Option<LogCurves> {
    let count = log.times_ms.len();
    if count == 0 {
        return None;
    }
    let groups = groups(log);
    let sums: Vec<Vec<u64>> = groups.iter().map(|(_, processes)| sums(log, processes)).collect();
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
            .zip(&sums)
            .map(|((name, _), sums)| LogSeries { name, bytes: shown.iter().map(|&at| sums[at]).collect() })
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
            [only] => groups.push((format!("{name}, process {}", log.processes[*only].pid), vec![*only])),
            [first, others @ ..] => {
                groups.push((format!("{name}, process {}", log.processes[*first].pid), vec![*first]));
                groups.push((format!("{name}, {} more", others.len()), others.to_vec()));
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

fn tables(log: &Log, has_host: bool) -> Vec<LogTable> {
    let mut tables = Vec::new();
    if log.printed.ooms.len() > 1 {
        tables.push(printed::oom_table(&log.printed));
    }
    if !log.printed.counters.is_empty() {
        tables.push(counted::counter_table(&log.printed));
    }
    if !log.printed.line_uses.is_empty() {
        tables.push(counted::line_table(&log.printed.line_uses));
    }
    if !log.cards.is_empty() {
        tables.push(card::table(&log.cards));
    }
    if has_host && !log.host.processes.is_empty() {
        tables.push(processes(&log.host));
    }
    tables.extend(log.profile.iter().flat_map(|profile| profile::tables(profile)));
    for table in &mut tables {
        table.left_out = table.rows.len().saturating_sub(MOST_ROWS) as u64;
        table.rows.truncate(MOST_ROWS);
    }
    tables
}

/// Lists the processes, those with the most memory first.
fn processes(log: &HostLog) -> LogTable {
    let peak = |process: &Process| process.counted_kib().iter().max().map_or(0, |kib| u64::from(*kib) << 10);
    let mut processes: Vec<&Process> = log.processes.iter().collect();
    processes.sort_by_cached_key(|process| Reverse(peak(process)));
    let row = |process: &&Process| {
        let ends = |kib: &[u32]| kib.first().zip(kib.last()).map(|(first, last)| (u64::from(*first), u64::from(*last)));
        let (first, last) = ends(process.counted_kib()).unwrap_or_default();
        vec![
            LogCell::Count(u64::from(process.pid)),
            LogCell::Text(process.command.chars().take(120).collect()),
            LogCell::Bytes(peak(process)),
            LogCell::Bytes(first << 10),
            LogCell::Bytes(last << 10),
            LogCell::Count(process.samples.len() as u64),
        ]
    };
    let quantity = if log.processes.iter().all(Process::has_pss) { "PSS" } else { "RSS" };
    let of = |name: &str| format!("{name} {quantity}");
    LogTable {
        title: "Processes".to_owned(),
        columns: vec![
            "PID".to_owned(),
            "Command".to_owned(),
            of("Highest"),
            of("First"),
            of("Last"),
            "Samples".to_owned(),
        ],
        rows: processes.iter().map(row).collect(),
        left_out: 0,
    }
}
