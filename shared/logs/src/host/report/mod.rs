//! Builds the diagnosis of a log of host memory.

mod climb;
mod curves;
mod machine;
mod shared_memory;

pub(crate) use climb::{course, when_full};

use crate::host::{ArenaHolder, Climb, Clock, HostForm, HostLog, Kill, arena_holder, climb_of, file_climb};
use crate::source::{LogPart, Source};
use climb::{climbs, duration, files_climb, finding, kept};
use curves::{curves, kinds, mappings, processes, total};
use shared::analysis::FindingCode;
use shared::base::{Diagnostic, Severity, format};
use shared::report::{Finding, LogNotice};

/// Returns the words for a tool.
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
        HostForm::KernelLog => "messages of the kernel",
    }
}

impl Source for HostLog {
    /// One row can be chance, but no other text has the lines of a file of /proc or of free.
    fn is_empty(&self) -> bool {
        let rows: u64 = self.processes.iter().map(|process| process.samples.len() as u64).sum();
        let rows = rows + self.machine.samples.len() as u64;
        let unread = self.diagnostics.iter().filter(|one| one.code == "host-lines-unread");
        let unread: u64 = unread.map(|one| one.count).sum();
        let is_certain = matches!(self.form, HostForm::Proc | HostForm::Meminfo | HostForm::Free);
        let least = if is_certain { 1 } else { 2 };
        self.kills.is_empty() && (rows < least || rows * 2 < unread)
    }

    fn part(&self) -> LogPart {
        let notice = |one: &Diagnostic| LogNotice { severity: one.severity, message: one.message.clone() };
        LogPart {
            title: title(self),
            facts: self.total.map(total).into_iter().chain(machine::fact(&self.machine)).collect(),
            curves: curves(self).into_iter().chain(machine::curves(self)).collect(),
            findings: findings(self),
            tables: [processes(self), kinds(self), mappings(self)].into_iter().flatten().collect(),
            notices: self.diagnostics.iter().map(notice).collect(),
            ..LogPart::default()
        }
    }
}

/// Returns what a log of host memory is and how much it has.
fn title(log: &HostLog) -> String {
    if log.times_ms.is_empty() && log.form == HostForm::KernelLog {
        return format!("Host memory, {}", tool(log.form));
    }
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
    findings.extend(shared_memory::findings(log));
    if let Some(climb) = &climb {
        findings.push(climbs(log, climb));
        findings.extend(climb.kept_bytes.map(|bytes| kept(climb, bytes)));
    } else {
        findings.extend(file_climb(log).as_ref().map(files_climb));
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
                  high with MALLOC_ARENA_MAX=2, it is in use, and not left over."
        .to_owned();
    finding(FindingCode::MallocArenas, Severity::Info, arenas.bytes, title, shows, advice)
}

fn killed(log: &HostLog, kill: &Kill, climb: Option<&Climb>) -> Finding {
    let what = if kill.is_of_cgroup { "its control group" } else { "the machine" };
    let at = kill.rss_bytes.map_or_else(String::new, |bytes| format!(" at {}", format::bytes(bytes)));
    let title = format!("The kernel killed process {} ({}){at}: {what} is full", kill.pid, kill.name);
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
    finding(
        FindingCode::HostProcessKilled,
        Severity::Error,
        kill.rss_bytes.unwrap_or(0),
        title,
        shows,
        advice.to_owned(),
    )
}
