//! Reports on the memory of the whole machine over time.

use super::climb::{course, duration, finding, is_almost_full};
use super::curves::at_times;
use crate::host::{Climb, HostLog, Machine, TotalSource, machine_climb, most_bytes};
use shared::analysis::FindingCode;
use shared::base::{Severity, format};
use shared::report::{Finding, LogCurves, LogLimit, LogSeries, MOST_TIMES, extremes};
use std::collections::BTreeMap;

/// Smallest climb that counts, as a fraction of the machine's memory: other programs use memory, too.
const LEAST_CLIMB: f64 = 0.05;

/// Fraction of the machine's memory that has to be in use at the peak for rises and falls to count.
const MUCH: f64 = 0.75;

/// Fraction of the machine's memory below which the available memory counts as almost nothing.
const ALMOST_NOTHING: f64 = 0.05;

/// The same, below which it counts as little.
const LITTLE: f64 = 0.1;

/// Returns the memory in use over time; `None` with fewer than two samples.
pub(super) fn curves(log: &HostLog) -> Option<LogCurves> {
    let machine = &log.machine;
    if machine.samples.len() < 2 {
        return None;
    }
    let values = if machine.total_bytes.is_some() { machine.used_bytes() } else { machine.available_bytes.clone() };
    let shown = extremes(values.len(), MOST_TIMES, |at| values[at]);
    let series = |name: &str, values: &[u64]| LogSeries {
        name: name.to_owned(),
        bytes: shown.iter().map(|&at| values[at]).collect(),
    };
    let name = if machine.total_bytes.is_some() { "In use" } else { "Available" };
    let has_swap = machine.swap_bytes.iter().any(|bytes| *bytes > 0);
    let swap = has_swap.then(|| series("Swap in use", &machine.swap_bytes));
    Some(LogCurves {
        quantity: "Memory of the machine".to_owned(),
        series: [series(name, &values)].into_iter().chain(swap).collect(),
        limit: machine.total_bytes.map(|bytes| LogLimit { name: "Memory of the machine".to_owned(), bytes }),
        ..at_times(log, shown.iter().map(|&at| log.times_ms[machine.samples[at] as usize]))
    })
}

pub(super) fn fact(machine: &Machine) -> Option<String> {
    let used = machine.used_bytes();
    let most = used.iter().copied().max().filter(|_| machine.total_bytes.is_some())?;
    let most = format!("at most {} of the machine's memory are in use", format::bytes(most));
    Some(if used.len() > 1 { format!("{most}, {} at first", format::bytes(used[0])) } else { most })
}

/// Reports memory that climbs, unless processes explain it, and memory that is almost used up.
pub(super) fn findings(log: &HostLog, of_processes: Option<&Climb>) -> Vec<Finding> {
    let climb = if of_processes.is_some() { None } else { machine_climb(log) };
    let is_said = of_processes.is_some_and(is_almost_full);
    let climbs = climb.filter(|climb| is_much(&log.machine, climb)).map(|climb| climbs(log, &climb));
    climbs.into_iter().chain(nearly_full(log).or_else(|| processes_nearly_full(log).filter(|_| !is_said))).collect()
}

/// Returns true if a climb is one that other programs of a busy machine do not explain.
fn is_much(machine: &Machine, climb: &Climb) -> bool {
    let whole = machine.total_bytes.or_else(|| machine.available_bytes.iter().copied().max()).unwrap_or(0) as f64;
    let is_high = climb.peak_bytes as f64 >= MUCH * whole;
    climb.climb_bytes as f64 >= LEAST_CLIMB * whole && (is_high || !climb.falls)
}

fn climbs(log: &HostLog, climb: &Climb) -> Finding {
    let bytes = format::bytes(climb.climb_bytes);
    let what = match log.machine.total_bytes {
        Some(_) => format!("The machine's memory in use climbs by {bytes}"),
        None => format!("The machine's available memory falls by {bytes}"),
    };
    let title = match (climb.falls, log.machine.total_bytes) {
        (false, _) => format!("{what} through the whole log"),
        (true, Some(_)) => format!("{what} again and again, and falls in between"),
        (true, None) => format!("{what} again and again, and rises in between"),
    };
    let who = match log.processes.is_empty() {
        true => "The log has no processes, so that it does not say which one climbs.",
        false => "No program in the log climbs as steadily.",
    };
    let shows = [Some(course(climb)), limit(log, climb), swap(&log.machine), Some(who.to_owned())];
    let shows: Vec<String> = shows.into_iter().flatten().collect();
    let advice = "[record] Sample the processes to see which ones climb: ``snapscope host -o host.csv -- python train.py``, or \
                  a loop of date and ps aux.\n\nMemory in /dev/shm, through which workers of a data loader send batches, counts for \
                  the machine even if no process has it: df -h /dev/shm shows it.";
    let code = FindingCode::HostMemoryClimbs;
    finding(code, Severity::Warning, climb.climb_bytes, title, shows.join(" "), advice)
}

/// Says when a climb through the whole log reaches the memory of the machine.
fn limit(log: &HostLog, climb: &Climb) -> Option<String> {
    let available_bytes = *log.machine.available_bytes.last()?;
    let total = format::bytes(log.machine.total_bytes?);
    let seconds = available_bytes as f64 / climb.bytes_per_s.max(1.0);
    let until = duration((seconds * 1000.0) as i64);
    let most = format::bytes(climb.peak_bytes);
    Some(match climb.falls {
        true => format!("The machine has {total}, of which {most} are in use at the most."),
        false => format!("The machine has {total}: at this rate, it is full {until} after the end of the log."),
    })
}

fn swap(machine: &Machine) -> Option<String> {
    let (first, last) = (*machine.swap_bytes.first()?, *machine.swap_bytes.last()?);
    (last > first).then(|| format!("Swap in use rises from {} to {}.", format::bytes(first), format::bytes(last)))
}

fn nearly_full(log: &HostLog) -> Option<Finding> {
    let machine = &log.machine;
    let (total_bytes, least_bytes) = (machine.total_bytes?, *machine.available_bytes.iter().min()?);
    if least_bytes as f64 > LITTLE * total_bytes as f64 {
        return None;
    }
    let is_almost = least_bytes as f64 <= ALMOST_NOTHING * total_bytes as f64;
    let (least, total) = (format::bytes(least_bytes), format::bytes(total_bytes));
    let what =
        if is_almost { "The machine's memory is almost full: only" } else { "Little of the machine's memory is left:" };
    let title = format!("{what} {least} of {total} were available");
    let below = |bytes: &&u64| **bytes as f64 <= LITTLE * total_bytes as f64;
    let count = machine.available_bytes.iter().filter(below).count() as u64;
    let shows = format!(
        "{} of {} have at most 10 % available, with the caches that the system would drop.",
        format::counted(count, "sample"),
        machine.samples.len()
    );
    let in_swap = machine.swap_bytes.iter().max().filter(|bytes| **bytes >= total_bytes / 20);
    let in_swap = in_swap.map(|bytes| format!("{} is in swap, which makes everything slow.", format::bytes(*bytes)));
    let has_most = largest(log, total_bytes.saturating_mul(2)).is_some();
    let largest = largest(log, total_bytes);
    let who = if largest.is_some() { "" } else { SAMPLE };
    let shows: Vec<String> = [shows].into_iter().chain(largest).chain(swap(machine).or(in_swap)).collect();
    let less = if has_most {
        "Look at what it keeps: lists, caches and queues that grow, and data that is loaded whole."
    } else {
        "Lower what grows with the number of workers: num_workers, prefetch_factor, and whatever each worker keeps."
    };
    let advice = format!("{less}\n{who}\nOnce nothing is available, the kernel kills a process.");
    let bytes = total_bytes.saturating_sub(least_bytes);
    let code = FindingCode::HostNearlyFull;
    let severity = if is_almost { Severity::Warning } else { Severity::Info };
    Some(finding(code, severity, bytes, title, shows.join(" "), advice))
}

const SAMPLE: &str = "[record] Or sample the processes to see which of them has the memory: \
                      ``snapscope host -o host.csv -- python train.py``.\n";

/// Names the program whose processes have the most memory at their last samples, if that is at least a quarter of the
/// machine's.
fn largest(log: &HostLog, total_bytes: u64) -> Option<String> {
    let mut programs: BTreeMap<&str, (u64, Vec<u32>)> = BTreeMap::new();
    for process in &log.processes {
        let (bytes, pids) = programs.entry(&process.command).or_default();
        *bytes += process.counted_kib().last().map_or(0, |&kib| u64::from(kib) << 10);
        pids.push(process.pid);
    }
    let (command, (bytes, pids)) = programs.into_iter().max_by_key(|(_, (bytes, _))| *bytes)?;
    let who = match pids.as_slice() {
        [pid] => format!("Process {pid} ({command}) has"),
        several => format!("{} processes of {command} together have", several.len()),
    };
    (bytes >= total_bytes / 4).then(|| format!("{who} the most, {}.", format::bytes(bytes)))
}

/// Reports processes that have almost all of the memory that they can have, if the log does not have the machine's.
fn processes_nearly_full(log: &HostLog) -> Option<Finding> {
    let total = log.total.filter(|total| log.machine.samples.is_empty() && total.source != TotalSource::Inferred)?;
    let bytes = most_bytes(log).filter(|bytes| *bytes as f64 >= (1.0 - ALMOST_NOTHING) * total.bytes as f64)?;
    let (most, whole) = (format::bytes(bytes), format::bytes(total.bytes));
    let who = if total.source == TotalSource::ControlGroup { "their control group" } else { "the machine" };
    let title = format!("The processes have {most} at the peak, and {who} {whole}");
    let shows = "Pages of files do not count, since the system drops them when it needs memory.";
    let advice = "Lower what grows with the number of workers: num_workers, prefetch_factor, and whatever each worker \
                  keeps.\nOr raise the limit of the container or job.\n\n\
                  Once memory is used up, the kernel kills a process.";
    Some(finding(FindingCode::HostNearlyFull, Severity::Warning, bytes, title, shows, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Process, Total};

    #[test]
    fn processes_can_fill_their_control_group() {
        let log = |mib: u32, limit_mib: u64| HostLog {
            times_ms: vec![0],
            total: Some(Total { bytes: limit_mib << 20, source: TotalSource::ControlGroup }),
            processes: vec![Process {
                samples: vec![0],
                rss_kib: vec![mib << 10],
                pss_kib: vec![mib << 10],
                file_kib: vec![100 << 10],
                shmem_kib: vec![300 << 10],
                ..Process::default()
            }],
            ..HostLog::default()
        };
        let found = findings(&log(1100, 1024), None);
        assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), [FindingCode::HostNearlyFull]);
        assert_eq!(found[0].title, "The processes have 0.977 GiB at the peak, and their control group 1.00 GiB");
        assert_eq!(findings(&log(1000, 1024), None), [], "900 MiB without pages of files");
    }
}
