//! Builds the diagnosis of a log of host memory.

use super::diagnosis::{Evidence, Finding, HOST};
use super::host_curves::{curves, total};
use super::host_machine;
use super::host_tables::{kinds, mappings, processes};
use super::log_part::LogPart;
use super::log_table::LogNotice;
use crate::analysis::{Confidence, FindingCode};
use crate::base::{Diagnostic, Severity, format};
use crate::host::{Climb, Climber, Clock, HostForm, HostLog, Kill, TotalSource, climb_of};

/// Fraction of the machine's memory above which it counts as almost full.
const FULL: f64 = 0.95;

/// Largest number of processes that a sentence names.
const MOST_NAMED: usize = 8;

/// Returns the words for a tool.
fn tool(form: HostForm) -> &'static str {
    match form {
        HostForm::Ps => "ps",
        HostForm::Top => "top",
        HostForm::Pidstat => "pidstat",
        HostForm::Smem => "smem",
        HostForm::Mprof => "mprof of memory_profiler",
        HostForm::Ray => "Ray",
        HostForm::Csv => "a table",
        HostForm::Psutil => "a table of psutil",
        HostForm::Proc => "/proc",
        HostForm::Free => "free",
        HostForm::Meminfo => "/proc/meminfo",
        HostForm::Vmstat => "vmstat",
        HostForm::Sar => "sar",
        HostForm::Wandb => "Weights & Biases",
        HostForm::KernelLog => "messages of the kernel",
    }
}

/// Reports on a log of host memory.
pub(super) fn part(log: &HostLog) -> LogPart {
    let notice = |one: &Diagnostic| LogNotice { severity: one.severity, message: one.message.clone() };
    LogPart {
        title: title(log),
        facts: log.total.map(total).into_iter().chain(host_machine::fact(&log.machine)).collect(),
        curves: curves(log).into_iter().chain(host_machine::curves(log)).collect(),
        findings: findings(log),
        tables: [processes(log), kinds(log), mappings(log)].into_iter().flatten().collect(),
        notices: log.diagnostics.iter().map(notice).collect(),
        ..LogPart::default()
    }
}

/// Returns what a log of host memory is and how much it has.
fn title(log: &HostLog) -> String {
    let samples = format::counted(log.times_ms.len() as u64, "sample");
    let processes = match log.processes.len() {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    let of = match (log.processes.is_empty(), log.machine.samples.is_empty()) {
        (true, false) => "the machine".to_owned(),
        (false, false) => format!("{processes} and the machine"),
        (_, true) => processes,
    };
    let text = format!("Host memory, {}: {samples} of {of}", tool(log.form));
    let span_ms = log.times_ms.last().zip(log.times_ms.first()).map_or(0, |(last, first)| last - first);
    match log.clock {
        _ if log.times_ms.len() < 2 => text,
        Clock::Samples => text + ", without times: a sample counts as one second",
        Clock::TimeOfDay | Clock::Elapsed | Clock::Dates => format!("{text} in {}", duration(span_ms)),
    }
}

/// Reports memory that climbs and processes that were killed.
fn findings(log: &HostLog) -> Vec<Finding> {
    let climb = climb_of(log);
    let mut findings: Vec<Finding> = log.kills.iter().map(|kill| killed(log, kill, climb.as_ref())).collect();
    if let Some(climb) = &climb {
        findings.push(climbs(log, climb));
        findings.extend(climb.kept_bytes.map(|bytes| kept(climb, bytes)));
    }
    findings.extend(host_machine::findings(log, climb.is_some()));
    findings
}

pub(super) fn finding(
    code: FindingCode,
    severity: Severity,
    bytes: u64,
    title: String,
    shows: String,
    advice: String,
) -> Finding {
    Finding {
        code,
        severity,
        confidence: Confidence::Medium,
        device: HOST,
        bytes,
        title,
        line: None,
        evidence: Evidence { shows, ..Evidence::default() },
        advice,
    }
}

fn climbs(log: &HostLog, climb: &Climb) -> Finding {
    let bytes = format::bytes(climb.climb_bytes);
    let name = match climb.family.name.as_str() {
        "" if climb.family.processes.len() == 1 => "the process",
        "" => "the processes",
        name => name,
    };
    let title = match climb.falls {
        true => format!("Host memory of {name} climbs by {bytes} within each epoch and falls at its end"),
        false if climb.settles => format!("Host memory of {name} climbs by {bytes}, and then stays"),
        false => format!("Host memory of {name} climbs by {bytes} through the whole log"),
    };
    let mut shows = vec![course(climb), climbers(log, climb)];
    if copies_shared_pages(climb) {
        shows.push(
            "Their resident sizes (RSS) stay as they are, while their proportional ones (PSS) climb: pages that they share \
             become copies."
                .to_owned(),
        );
    }
    if !climb.has_pss && climb.climbers.len() > 1 {
        shows.push(
            "The log has resident sizes (RSS), which count shared memory once for each process, so that the sum is an \
             upper bound."
                .to_owned(),
        );
    }
    shows.extend(limit(climb));
    let severity = if is_almost_full(climb) { Severity::Error } else { Severity::Warning };
    let confidence = if copies_shared_pages(climb) { Confidence::High } else { Confidence::Medium };
    let found =
        finding(FindingCode::HostMemoryClimbs, severity, climb.climb_bytes, title, shows.join(" "), advice(climb));
    Finding { confidence, ..found }
}

pub(super) fn course(climb: &Climb) -> String {
    let per_minute = format::bytes((climb.bytes_per_s * 60.0) as u64);
    let per_step =
        climb.bytes_per_step.map_or_else(String::new, |bytes| format!(", {} per step", format::bytes(bytes)));
    let time = duration(climb.epoch_ms);
    match climb.falls {
        true => format!(
            "{} rises follow each other every {time}; each rises by {per_minute} per minute{per_step}.",
            climb.rises.len()
        ),
        false => format!("It rises by {per_minute} per minute{per_step}, steadily for {time}."),
    }
}

fn climbers(log: &HostLog, climb: &Climb) -> String {
    let climbers = &climb.climbers;
    let named: Vec<String> =
        climbers.iter().take(MOST_NAMED).map(|one| log.processes[one.process].pid.to_string()).collect();
    let more = climbers.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} others") } else { String::new() };
    let (most, least) = (climbers.first().map_or(0, |one| one.bytes), climbers.last().map_or(0, |one| one.bytes));
    let by = match least * 5 < most * 4 {
        true => format!("{} to {}", format::bytes(least), format::bytes(most)),
        false => format::bytes(most),
    };
    match climbers.len() {
        1 => format!("Process {} climbs by {by}.", named[0]),
        count => {
            let end = match are_workers(climb) {
                true => "; most of them end with a rise, as workers of a data loader do at the end of an epoch",
                false => "",
            };
            let at_once = match climb.at_once {
                of_all if of_all == count => String::new(),
                some => format!(", {some} at a time,"),
            };
            format!("{count} processes{at_once} climb by {by} each{end}: {}{more}.", named.join(", "))
        }
    }
}

/// Returns true if most processes that climb end with a rise.
fn are_workers(climb: &Climb) -> bool {
    climb.climbers.iter().filter(|climber| climber.ends_with_rise).count() * 2 >= climb.climbers.len()
}

/// Returns the bytes of the machine that the family can use.
fn room(climb: &Climb) -> Option<u64> {
    climb.machine.map(|(total, others_bytes)| total.bytes.saturating_sub(others_bytes))
}

fn is_almost_full(climb: &Climb) -> bool {
    room(climb).is_some_and(|room| climb.peak_bytes as f64 >= FULL * room as f64)
}

/// Says when the climb reaches the machine's memory.
fn limit(climb: &Climb) -> Option<String> {
    let ((total, _), room) = (climb.machine?, room(climb)?);
    let bytes = format::bytes(total.bytes);
    let machine = match total.source {
        TotalSource::Stated => format!("The machine has {bytes}"),
        TotalSource::Inferred => format!("The machine has {bytes}, inferred from the percentages in the log"),
        TotalSource::ControlGroup => format!("The control group of the processes is limited to {bytes}"),
    };
    let until = |from: u64| {
        let seconds = room.saturating_sub(from) as f64 / climb.bytes_per_s.max(1.0);
        duration((seconds * 1000.0) as i64)
    };
    if climb.settles {
        return Some(format!("{machine}, of which {} are in use at the most.", format::bytes(climb.peak_bytes)));
    }
    let last = climb.rises.last().map_or(climb.peak_bytes, |rise| rise.to);
    Some(match climb.falls {
        _ if is_almost_full(climb) => {
            format!("{machine}: at {}, it is almost full at the peak.", format::bytes(climb.peak_bytes))
        }
        true => format!(
            "{machine}: at this rate, an epoch that lasts {} fills that, where an epoch takes {} now.",
            until(climb.base_bytes),
            duration(climb.epoch_ms)
        ),
        false => format!("{machine}: at this rate, it is full {} after the end of the log.", until(last)),
    })
}

/// Returns true if pages that processes share become private to each of them.
///
/// That raises their proportional sets, while their resident sets, which had the pages already, stay as they are.
fn copies_shared_pages(climb: &Climb) -> bool {
    let sum = |bytes: fn(&Climber) -> u64| climb.climbers.iter().map(bytes).sum::<u64>();
    climb.has_pss && climb.climbers.len() > 1 && sum(|one| one.rss_bytes) * 2 < sum(|one| one.bytes)
}

fn advice(climb: &Climb) -> String {
    if copies_shared_pages(climb) {
        return "Keep the samples of the dataset in a NumPy array or a tensor instead of a list or dict of Python objects: a \
                worker that reads a Python object changes its reference count, so that the page around it, which it \
                shared with the main process, is copied. Many strings can be one array of bytes with an array of offsets. \
                Until then, fewer workers (num_workers) divide the climb."
            .to_owned();
    }
    if climb.climbers.len() > 1 && (are_workers(climb) || !climb.falls) {
        return "Look for what each worker keeps: a cache in the dataset (self.cache[index] = sample), open files, and lists \
                that __getitem__ appends to. Files that are read by memory mapping (np.memmap, LMDB, Arrow) count in RSS, \
                too, and the system takes their pages back when it needs them. Fewer workers (num_workers) divide the \
                climb. Pages that workers copy because they count references to Python objects do not show in RSS: record \
                PSS by snapscope host to see them."
            .to_owned();
    }
    if climb.falls {
        return "Look for what the program keeps until the end of an epoch: outputs or losses in a list (append \
                loss.item() instead of loss), batches that are collected for a metric, and caches. tracemalloc names the \
                lines: dump a snapshot at the beginning and at the end of an epoch, and compare them by snapscope diff."
            .to_owned();
    }
    "Record at least two epochs to see whether the memory falls between them. tracemalloc names the lines that allocate \
     it: dump snapshots some minutes apart, and compare them by snapscope diagnose. Usual causes are lists of losses or \
     outputs, and caches without a limit."
        .to_owned()
}

fn kept(climb: &Climb, bytes: u64) -> Finding {
    let epochs = room(climb).map(|room| room.saturating_sub(climb.peak_bytes) / bytes.max(1));
    let until = epochs.map(|epochs| match epochs {
        0 => " The next epoch does not fit into the machine's memory.".to_owned(),
        epochs => format!(" At this rate, memory lasts for {} more.", format::counted(epochs, "epoch")),
    });
    let shows = format!("After each fall, memory is higher than after the one before.{}", until.unwrap_or_default());
    let advice = "Look for what outlives an epoch: a cache in the dataset, results that are appended to a list, workers \
                  that are created without the old ones being ended (persistent_workers and a new DataLoader in each \
                  epoch), or plots and figures that are never closed. Memory that Python has freed can stay with malloc: \
                  if it does not grow with MALLOC_ARENA_MAX=2, that is the cause."
        .to_owned();
    let title = format!("{} of host memory stay after each epoch", format::bytes(bytes));
    finding(FindingCode::HostMemoryKept, Severity::Warning, bytes, title, shows, advice)
}

fn killed(log: &HostLog, kill: &Kill, climb: Option<&Climb>) -> Finding {
    let what = if kill.is_of_cgroup { "its control group's limit" } else { "the machine's memory" };
    let title = format!(
        "The kernel killed process {} ({}) at {}, because {what} was used up",
        kill.pid,
        kill.name,
        format::bytes(kill.rss_bytes)
    );
    let of_family = climb.filter(|climb| climb.family.processes.iter().any(|&one| log.processes[one].pid == kill.pid));
    let shows = match of_family {
        Some(climb) => format!("It is one of the processes of {}, whose memory climbs.", climb.family.name),
        None => {
            "The kernel kills the process that uses the most memory, which is not always the one that grows.".to_owned()
        }
    };
    let advice = match kill.is_of_cgroup {
        true => "Raise the memory limit of the container or job, or use less: see what else is found here.",
        false => "Use less host memory: see what else is found here, or sample the processes until it happens again.",
    };
    finding(FindingCode::HostProcessKilled, Severity::Error, kill.rss_bytes, title, shows, advice.to_owned())
}

pub(super) fn duration(ms: i64) -> String {
    format::duration(u64::try_from(ms).unwrap_or(0).saturating_mul(1000))
}
