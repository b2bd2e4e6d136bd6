//! Builds the diagnosis of a log of host memory.

mod climb;
mod curves;
mod few;
mod machine;
mod shared_memory;

pub(crate) use climb::{course, when_full};

use crate::host::{
    ArenaHolder, Climb, Clock, Container, HostForm, HostLog, Killer, arena_holder, climb_of, file_climb,
};
use crate::source::{LogPart, Source};
use climb::{climbs, duration, files_climb, finding, kept};
use curves::{curves, kinds, mappings, processes, total};
use shared::analysis::FindingCode;
use shared::base::{Diagnostic, Severity, format};
use shared::report::{Finding, LogCell, LogNotice, LogTable};

fn tool(form: HostForm) -> &'static str {
    match form {
        HostForm::Ps => "ps",
        HostForm::Top => "top",
        HostForm::Mprof => "mprof of memory_profiler",
        HostForm::Csv => "a table",
        HostForm::Psutil => "a table of psutil",
        HostForm::Proc => "/proc",
        HostForm::Free => "free",
        HostForm::Meminfo => "/proc/meminfo",
        HostForm::Wandb => "Weights & Biases",
        HostForm::Earlyoom => "earlyoom",
        HostForm::KernelLog => "messages of the kernel",
    }
}

impl Source for HostLog {
    /// One row of processes can be chance, but no other text has the lines of a file of /proc or of free.
    fn is_empty(&self) -> bool {
        let rows: u64 = self.processes.iter().map(|process| process.samples.len() as u64).sum();
        let rows = rows + self.machine.samples.len() as u64;
        let unread = self.diagnostics.iter().filter(|one| one.code == "host-lines-unread");
        let unread: u64 = unread.map(|one| one.count).sum();
        let is_certain = matches!(self.form, HostForm::Proc | HostForm::Meminfo | HostForm::Free);
        let is_found = if is_certain { rows > 0 } else { rows > 1 && rows * 2 >= unread };
        let is_shared = self.shared.samples.len() > 1 || shared_memory::nearly_full(&self.shared).is_some();
        let has_ends = !(self.kills.is_empty() && self.pressure.is_empty() && self.containers.is_empty());
        !(has_ends || is_shared || is_found)
    }

    fn part(&self) -> LogPart {
        let notice = |one: &Diagnostic| LogNotice { severity: one.severity, message: one.message.clone() };
        LogPart {
            title: title(self),
            facts: self.total.map(total).into_iter().chain(machine::fact(&self.machine)).collect(),
            curves: curves(self).into_iter().chain(machine::curves(self)).collect(),
            findings: findings(self),
            tables: [processes(self), kinds(self), mappings(self), containers(self)].into_iter().flatten().collect(),
            notices: self.diagnostics.iter().map(notice).collect(),
            ..LogPart::default()
        }
    }
}

/// Returns what a log of host memory is and how much it has.
fn title(log: &HostLog) -> String {
    if log.processes.is_empty() && log.form == HostForm::KernelLog {
        return format!("Host memory, {}", tool(log.form));
    }
    if log.processes.is_empty() && log.machine.samples.is_empty() && !log.containers.is_empty() {
        let is_job = |container: &Container| container.name.starts_with("Job ");
        let what = if log.containers.iter().all(is_job) { "job" } else { "container" };
        return format!("Host memory of {}", format::counted(log.containers.len() as u64, what));
    }
    let samples = format::counted(log.times_ms.len() as u64, "sample");
    if log.processes.is_empty() && log.machine.samples.is_empty() {
        return format!("Shared memory (/dev/shm): {samples}");
    }
    let count = log.processes.len();
    let of = match (count, log.machine.samples.is_empty()) {
        (0, false) => "the machine".to_owned(),
        (_, is_alone) => {
            let processes = if count == 1 { "process" } else { "processes" };
            format!("{count} {processes}{}", if is_alone { "" } else { " and the machine" })
        }
    };
    let text = format!("Host memory, {}: {samples} of {of}", tool(log.form));
    match (log.clock, log.times_ms.as_slice()) {
        (_, [] | [_]) => text,
        (Clock::Samples, _) => text + ", without times: a sample counts as one second",
        (_, [first, .., last]) => format!("{text} in {}", duration(last - first)),
    }
}

/// Reports memory that climbs and processes that were killed.
fn findings(log: &HostLog) -> Vec<Finding> {
    let climb = climb_of(log);
    let killers = [Killer::Kernel, Killer::ControlGroup, Killer::Earlyoom];
    let mut findings: Vec<Finding> =
        killers.into_iter().filter_map(|killer| killed(log, killer, climb.as_ref())).collect();
    findings.extend(unknown_victim(log));
    findings.extend(log.containers.iter().filter_map(nearly_full_container));
    findings.extend(shared_memory::findings(log));
    if let Some(climb) = &climb {
        findings.push(climbs(log, climb));
        findings.extend(climb.kept_bytes.map(|bytes| kept(climb, bytes)));
    } else {
        findings.extend(file_climb(log).as_ref().map(files_climb));
        findings.extend(few::finding(log));
    }
    findings.extend(arena_holder(log).map(|holder| arenas(&holder)));
    findings.extend(machine::findings(log, climb.as_ref()));
    findings
}

/// Reports arenas of malloc that have most of a process's memory.
fn arenas(ArenaHolder { pid, name, arenas, peak_bytes }: &ArenaHolder) -> Finding {
    let (bytes, peak) = (format::bytes(arenas.bytes), format::bytes(*peak_bytes));
    let title = format!("Arenas of malloc have {bytes} of the {peak} of {name}, process {pid}");
    let shows = format!(
        "There are {} of them. A thread allocates objects of more than 512 B from its arena, and what it frees stays \
         there: other threads cannot use it, and it goes back to the system only from the arena's end.",
        arenas.count
    );
    let advice = "Run it with ``MALLOC_ARENA_MAX=2`` in the environment: threads then share two arenas, which is slower only \
                  if they allocate much at the same time.\n\
                  Use fewer threads (ThreadPoolExecutor(max_workers=2)), which have fewer arenas.\n\
                  Give back what is free after an epoch: ``ctypes.CDLL(\"libc.so.6\").malloc_trim(0)``.\n\nIf memory stays as \
                  high with MALLOC_ARENA_MAX=2, it is in use, and not left over.";
    finding(FindingCode::MallocArenas, Severity::Info, arenas.bytes, title, shows, advice)
}

/// Reports the processes that someone killed, by the largest of them.
fn killed(log: &HostLog, killer: Killer, climb: Option<&Climb>) -> Option<Finding> {
    /// Whoever is killed with less has not filled a machine or a container.
    const SMALL_BYTES: u64 = 64 << 20;
    let kills = || log.kills.iter().filter(|kill| kill.killer == killer);
    // Of equal ones, the first.
    let kill = kills().rev().max_by_key(|kill| kill.rss_bytes)?;
    let size =
        |words: &str| kill.rss_bytes.map_or_else(String::new, |bytes| format!("{words}{}", format::bytes(bytes)));
    let whom = match kills().count() {
        1 => format!("process {} ({}){}", kill.pid, kill.name, size(" at ")),
        count => format!("{count} processes{}", size(", the largest at ")),
    };
    let (who, full) = match killer {
        Killer::Kernel => ("The kernel", "the machine is full"),
        Killer::ControlGroup => ("The kernel", "its control group is full"),
        Killer::Earlyoom => ("earlyoom", "the machine is almost full"),
    };
    let is_of_family = |climb: &&Climb| {
        climb.family.processes.iter().any(|&one| kills().any(|kill| log.processes[one].pid == kill.pid))
    };
    let mut shows = match climb.filter(is_of_family) {
        Some(climb) => format!("It is one of the processes of {}, whose memory climbs.", climb.family.name),
        None if kill.rss_bytes.is_some_and(|bytes| bytes < SMALL_BYTES) => {
            "Such small processes do not fill it: others that may not be killed have the memory, files in /dev/shm or \
             another tmpfs, or the kernel itself."
                .to_owned()
        }
        None => "The process that uses the most memory is killed, which is not always the one that grows.".to_owned(),
    };
    if kills().count() > 1 {
        shows += &format!(" The largest was {} ({}).", kill.pid, kill.name);
    }
    if let Some(limit) = log.pressure.limit_bytes.filter(|_| killer == Killer::ControlGroup) {
        shows += &format!(" The limit is {}.", format::bytes(limit));
    }
    let shared_bytes = log.pressure.shared_bytes;
    if shared_bytes.saturating_mul(4) > log.pressure.limit_bytes.unwrap_or(u64::MAX) {
        let shared = format::bytes(shared_bytes);
        shows += &format!(" Of what it had, {shared} was shared memory: batches that workers send through /dev/shm.");
    }
    let advice = match killer {
        Killer::ControlGroup => OF_GROUP,
        _ => {
            "Use less host memory: fewer workers, shorter queues, files by memory mapping; in WSL, give it more in `.wslconfig`.\n\
             [record] See which processes climb: ``snapscope host -- python train.py``."
        }
    };
    let (code, title) = (FindingCode::HostProcessKilled, format!("{who} killed {whom}: {full}"));
    let bytes = kill.rss_bytes.unwrap_or(0);
    Some(finding(code, Severity::Error, bytes, title, shows, advice))
}

const OF_GROUP: &str = "Raise the memory limit of the container or job, or use less: fewer workers, shorter queues, files by \
                        memory mapping.\n[record] See which processes climb: ``snapscope host -- python train.py``.";

/// Reports memory that ran out where the log does not say whom the kernel killed.
fn unknown_victim(log: &HostLog) -> Option<Finding> {
    let pressure = Some(&log.pressure).filter(|pressure| log.kills.is_empty() && !pressure.is_empty())?;
    let (title, advice) = match (pressure.is_of_cgroup, pressure.limit_bytes) {
        (true, Some(limit)) => (format!("A container or job reached its limit of {}", format::bytes(limit)), OF_GROUP),
        (true, None) => ("A container or job reached its memory limit".to_owned(), OF_GROUP),
        (false, _) => (
            format!("The memory of the machine ran out when {} asked for more", pressure.asked_by),
            "Use less host memory, or give the machine more memory or swap: sample the processes until it happens again.",
        ),
    };
    let swap = if pressure.is_swap_used_up { " No swap was left." } else { "" };
    let shows = format!("The kernel looked for a process to kill; the line that names it is missing here.{swap}");
    let bytes = pressure.limit_bytes.unwrap_or(0);
    Some(finding(FindingCode::HostOutOfMemory, Severity::Error, bytes, title, shows, advice))
}

/// Reports a container that uses nearly all that it may.
fn nearly_full_container(container: &Container) -> Option<Finding> {
    let Container { name, used_bytes, limit_bytes } = container;
    let is_full = *used_bytes as f64 >= NEARLY_FULL * *limit_bytes as f64;
    let title =
        format!("{name} uses {} of the {} that it may", format::bytes(*used_bytes), format::bytes(*limit_bytes));
    let shows = "At its limit, the kernel kills one of its processes.";
    is_full.then(|| finding(FindingCode::HostNearlyFull, Severity::Warning, *used_bytes, title, shows, OF_GROUP))
}

/// Fraction of its limit from which a container is nearly full.
const NEARLY_FULL: f64 = 0.95;

fn containers(log: &HostLog) -> Option<LogTable> {
    let row = |container: &Container| {
        let Container { name, used_bytes, limit_bytes } = container;
        vec![LogCell::Text(name.clone()), LogCell::Bytes(*used_bytes), LogCell::Bytes(*limit_bytes)]
    };
    let table = || LogTable::new("Containers and jobs", ["Name", "In use", "Limit"], log.containers.iter().map(row));
    (!log.containers.is_empty()).then(table)
}
