//! Reports memory of processes that climbs.

use crate::host::{Climb, Climber, Clock, HostForm, HostLog, TotalSource};
use crate::source;
use shared::analysis::{Confidence, FindingCode};
use shared::base::{Severity, format};
use shared::report::{Finding, HOST};
use std::iter;

/// Fraction of the machine's memory above which it counts as almost full.
const FULL: f64 = 0.95;

/// Memory from which teeth are worth a warning though they stay as they are.
const MUCH_BYTES: u64 = 512 << 20;

const MOST_NAMED: usize = 8;

pub(super) fn climbs(log: &HostLog, climb: &Climb) -> Finding {
    if is_level(climb) {
        return level(climb);
    }
    let bytes = format::bytes(climb.climb_bytes);
    let name = name(climb);
    let copies = copies_shared_pages(climb);
    let title = match climb.falls {
        _ if copies => {
            let of = if climb.family.name.is_empty() { String::new() } else { format!(" of {name}") };
            let when = if climb.falls { " within each epoch" } else { "" };
            format!("Workers{of} copy {bytes} of the pages that they share{when}")
        }
        true => format!("Host memory of {name} climbs by {bytes} within each epoch and falls at its end"),
        false if climb.settles => format!("Host memory of {name} climbs by {bytes}, and then stays"),
        false => format!("Host memory of {name} climbs by {bytes} through the whole log"),
    };
    let shows: Vec<String> = iter::once(course(climb))
        .chain(climbers(log, climb))
        .chain(kind(log, climb).map(str::to_owned))
        .chain(limit(log, climb))
        .collect();
    let severity = if is_almost_full(climb) { Severity::Error } else { Severity::Warning };
    let of_copies = (FindingCode::WorkersCopyOnWrite, Confidence::High);
    let (code, confidence) = if copies { of_copies } else { (FindingCode::HostMemoryClimbs, Confidence::Medium) };
    Finding { confidence, ..finding(code, severity, climb.climb_bytes, title, shows.join(" "), advice(climb)) }
}

/// Returns true if a process that lives on takes little and gives it back again and again, as one does that reads chunks.
fn is_level(climb: &Climb) -> bool {
    let is_small = climb.climb_bytes < MUCH_BYTES && climb.climb_bytes * 2 < climb.peak_bytes;
    climb.falls && climb.kept_bytes.is_none() && is_small && !are_workers(climb) && !is_almost_full(climb)
}

/// Reports memory that goes up and down, which is no mistake.
fn level(climb: &Climb) -> Finding {
    let title = format!("Host memory of {} goes up and down by {}", name(climb), format::bytes(climb.climb_bytes));
    let shows =
        format!("{} It falls back each time, and is {} at the most.", course(climb), format::bytes(climb.peak_bytes));
    let advice = "\n\nNothing has to be done: a program that reads and frees one part of its data after the other looks like \
                  this.";
    finding(FindingCode::HostMemoryClimbs, Severity::Info, climb.climb_bytes, title, shows, advice)
}

/// Reports pages of files that climb, which is no mistake.
pub(super) fn files_climb(climb: &Climb) -> Finding {
    let (name, bytes) = (name(climb), format::bytes(climb.climb_bytes));
    let title = format!("Pages of files in {name} climb by {bytes}, which the system can drop");
    let advice = "\n\nNothing has to be done: files that are read by memory mapping (np.memmap, LMDB, Arrow) count in RSS and \
                  PSS, and the system takes their pages back when it needs them. If memory runs out all the same, \
                  something else has it.";
    finding(FindingCode::HostMemoryClimbs, Severity::Info, climb.climb_bytes, title, course(climb), advice)
}

/// Returns the words for the program that climbs; not every log has names.
pub(super) fn name(climb: &Climb) -> &str {
    match climb.family.name.as_str() {
        "" if climb.family.processes.len() == 1 => "the process",
        "" => "the processes",
        name => name,
    }
}

/// Says what kind of memory climbs, as far as the log tells.
fn kind(log: &HostLog, climb: &Climb) -> Option<&'static str> {
    let has_kinds = |&process: &usize| log.processes[process].has_kinds();
    if copies_shared_pages(climb) {
        Some(
            "Their resident sizes (RSS) stay as they are, while their proportional ones (PSS) climb: pages that they share \
             become copies.",
        )
    } else if climb.family.processes.iter().all(has_kinds) {
        Some("It is memory of the processes' own, such as their heaps; pages of files and shared memory do not count.")
    } else if !climb.has_pss && climb.climbers.len() > 1 {
        Some(
            "The log has resident sizes (RSS), which count shared memory once for each process, so that the sum is an \
             upper bound.",
        )
    } else {
        None
    }
}

pub(crate) fn course(climb: &Climb) -> String {
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

/// Says which processes climb; `None` if there is one, and the log has no process ids.
fn climbers(log: &HostLog, climb: &Climb) -> Option<String> {
    let climbers = &climb.climbers;
    let named: Vec<String> =
        climbers.iter().take(MOST_NAMED).map(|one| log.processes[one.process].pid.to_string()).collect();
    let more = climbers.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} others") } else { String::new() };
    let (most, least) = (climbers.first().map_or(0, |one| one.bytes), climbers.last().map_or(0, |one| one.bytes));
    let from = if least * 5 < most * 4 { format!("{} to ", format::bytes(least)) } else { String::new() };
    let by = from + &format::bytes(most);
    Some(match climbers.len() {
        1 if matches!(log.form, HostForm::Mprof | HostForm::Wandb) => return None,
        1 => format!("{} {} climbs by {by}.", role(log, climb), named[0]),
        count => {
            let of_workers = "; most of them end with a rise, as workers of a data loader do at the end of an epoch";
            let end = if are_workers(climb) { of_workers } else { "" };
            let some = climb.at_once;
            let at_once = if some == count { String::new() } else { format!(", {some} at a time,") };
            format!("{count} processes{at_once} climb by {by} each{end}: {}{more}.", named.join(", "))
        }
    })
}

fn role(log: &HostLog, climb: &Climb) -> &'static str {
    let of = |process: usize| &log.processes[process];
    let climber = of(climb.climbers[0].process);
    let is_in = |pid: u32| climb.family.processes.iter().any(|&one| of(one).pid == pid);
    match climber.parent {
        Some(parent) if is_in(parent) => "Worker",
        Some(_) if climb.family.processes.len() > 1 => "The main process",
        _ => "Process",
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

pub(super) fn is_almost_full(climb: &Climb) -> bool {
    room(climb).is_some_and(|room| climb.peak_bytes as f64 >= FULL * room as f64)
}

/// Says when the climb reaches the machine's memory.
fn limit(log: &HostLog, climb: &Climb) -> Option<String> {
    let ((total, _), room) = (climb.machine?, room(climb)?);
    let bytes = format::bytes(total.bytes);
    let machine = match total.source {
        TotalSource::Stated => format!("The machine has {bytes}"),
        TotalSource::Inferred => format!("The machine has {bytes}, inferred from the percentages in the log"),
        TotalSource::ControlGroup => format!("The control group of the processes is limited to {bytes}"),
    };
    let until_ms = |from: u64| (room.saturating_sub(from) as f64 / climb.bytes_per_s.max(1.0) * 1000.0) as i64;
    // Copies end once each process has its own.
    if climb.settles || (copies_shared_pages(climb) && !is_almost_full(climb)) {
        return Some(format!("{machine}, of which {} are in use at the most.", format::bytes(climb.peak_bytes)));
    }
    let last = climb.rises.last().map_or(climb.peak_bytes, |rise| rise.to);
    Some(match climb.falls {
        _ if is_almost_full(climb) => {
            format!("{machine}: at {}, it is almost full at the peak.", format::bytes(climb.peak_bytes))
        }
        true => format!(
            "{machine}: at this rate, an epoch that lasts {} fills that, where an epoch takes {} now.",
            duration(until_ms(climb.base_bytes)),
            duration(climb.epoch_ms)
        ),
        false => {
            let last_ms = log.times_ms.last().filter(|_| log.clock == Clock::Dates);
            let end_ms = last_ms.map(|last| last + log.zone_min * 60_000);
            format!("{machine}: at this rate, it is full {}.", when_full(until_ms(last), end_ms))
        }
    })
}

/// Formats a time in milliseconds after the end of a log, with the date within a year if the time of the end is known.
pub(crate) fn when_full(ms: i64, end_ms: Option<i64>) -> String {
    const YEAR_MS: i64 = 366 * 86_400_000;
    let after = format!("{} after the end of the log", duration(ms));
    match end_ms.filter(|_| ms < YEAR_MS) {
        // Seconds would be more than is known.
        Some(end_ms) => {
            let text = format::date_and_time(end_ms.saturating_add(ms));
            format!("{after}, on {}", text.rsplit_once(':').map_or(text.as_str(), |(minutes, _)| minutes))
        }
        None => after,
    }
}

/// Returns true if pages that processes share become private to each of them.
///
/// That raises their proportional sets, while their resident sets, which had the pages already, stay as they are.
fn copies_shared_pages(climb: &Climb) -> bool {
    let sum = |bytes: fn(&Climber) -> u64| climb.climbers.iter().map(bytes).sum::<u64>();
    climb.has_pss && climb.climbers.len() > 1 && sum(|one| one.rss_bytes) * 2 < sum(|one| one.bytes)
}

fn advice(climb: &Climb) -> &'static str {
    match () {
        () if copies_shared_pages(climb) => {
            "Keep the samples of the dataset in a NumPy array or a tensor instead of a list or dict of Python \
             objects.\nStrings can be one array of bytes: ``self.data = np.frombuffer(b\"\".join(rows), np.uint8); \
             self.ends = np.cumsum([len(row) for row in rows])``.\nUntil then, fewer workers (num_workers) divide the \
             climb.\n\nA worker that reads a Python object changes its reference count, so that the page around it, \
             which it shared with the main process, is copied. If it stays with num_workers=0, it is something else."
        }
        () if climb.climbers.len() > 1 && (are_workers(climb) || !climb.falls) && climb.has_pss => {
            "Look for what each worker keeps: a cache in the dataset (self.cache[index] = sample; instead, \
             ``@functools.lru_cache(maxsize=1000)`` around the function that decodes), open files, and lists that \
             __getitem__ appends to.\nUse fewer workers (num_workers), which divide the climb.\n\nIf it stays while __getitem__ returns the same \
             sample each time, it is not the dataset that keeps them."
        }
        () if climb.climbers.len() > 1 && (are_workers(climb) || !climb.falls) => {
            "Look for what each worker keeps: a cache in the dataset (self.cache[index] = sample), open files, and \
             lists that __getitem__ appends to.\nUse fewer workers (num_workers), which divide the climb.\n[record] \
             Record PSS by ``snapscope host -o host.csv -- python train.py``: pages that workers copy because they \
             count references to Python objects do not show in RSS.\n\nFiles that are read by memory mapping \
             (np.memmap, LMDB, Arrow) count in RSS, too, and the system takes their pages back when it needs them."
        }
        () if climb.falls => {
            "Look for what the program keeps until the end of an epoch: outputs or losses in a list (append loss.item() \
             instead of loss), batches that are collected for a metric, parts of a batch that keep all of it (append \
             batch[i].copy() instead of batch[i]), and caches.\n[record] tracemalloc names the lines: call \
             ``tracemalloc.start()``, dump a snapshot at the beginning and at the end of an epoch, and compare them by \
             snapscope diff.\n\nIf tracemalloc sees no growth, the \
             memory is of a library, or freed memory that stays with malloc."
        }
        () => {
            "Look for losses or outputs in a list (append loss.item() instead of loss), a running sum of them \
             (total += loss.item()), parts of a batch that keep all of it (append batch[i].copy() instead of batch[i]), \
             and caches without a limit (@functools.lru_cache(maxsize=1000)).\n[record] tracemalloc names the lines: call \
             ``tracemalloc.start()``, dump tracemalloc.take_snapshot() some minutes apart, and compare the files by \
             snapscope diagnose.\nRecord at least two epochs to see whether it falls between them.\n\n\
             If tracemalloc sees no growth, the memory is of a library, or freed memory that stays with malloc."
        }
    }
}

pub(super) fn kept(climb: &Climb, bytes: u64) -> Finding {
    let epochs = room(climb).map(|room| room.saturating_sub(climb.peak_bytes) / bytes.max(1));
    let until = match epochs {
        None => String::new(),
        Some(0) => " The next epoch does not fit into the machine's memory.".to_owned(),
        Some(epochs) => format!(" At this rate, memory lasts for {} more.", format::counted(epochs, "epoch")),
    };
    let shows = format!("After each fall, memory is higher than after the one before.{until}");
    let advice = "Look for what outlives an epoch: a cache in the dataset, results that are appended to a list, workers \
                  that are created without the old ones being ended (persistent_workers and a new DataLoader in each \
                  epoch), or plots and figures that are never closed.\n\nMemory that Python has freed can stay with malloc: \
                  if it does not grow with MALLOC_ARENA_MAX=2, that is the cause.";
    let title = format!("{} of host memory stay after each epoch", format::bytes(bytes));
    finding(FindingCode::HostMemoryKept, Severity::Warning, bytes, title, shows, advice)
}

/// Returns a finding about host memory, without a line of code.
pub(super) fn finding(
    code: FindingCode,
    severity: Severity,
    bytes: u64,
    title: String,
    shows: impl Into<String>,
    advice: impl Into<String>,
) -> Finding {
    let found = source::finding(code, HOST, severity, bytes, title, shows, advice);
    Finding { confidence: Confidence::Medium, ..found }
}

pub(super) fn duration(ms: i64) -> String {
    format::duration(u64::try_from(ms).unwrap_or(0).saturating_mul(1000))
}
