//! Reads logs of host memory, line by line, in whatever mixture of tools their loop printed.
//!
//! ```text
//! Mon Nov 23 15:46:52 UTC 2026                                      a new sample
//! ml 4711 99.5 12.3 98765 81234 pts/0 Rl+ 10:12 1:02 python t.py    a process in it
//! ml 4712 12.5  2.1 58765 21234 pts/0 Sl+ 10:12 0:09 python t.py    another one
//! Mon Nov 23 15:46:53 UTC 2026                                      the next sample
//! ```
//!
//! Without times, a sample ends where a process comes for the second time.

mod dumps;
mod samples;

use super::arenas;
use super::head::Head;
use super::log::{Clock, HostForm, HostLog, Kill, Process, Total, TotalSource};
use super::machine;
use super::oddities::Oddities;
use super::proc::{ProcReader, sorted};
use super::row::{Row, headless};
use super::shm;
use super::usage::UsageReader;
use super::wandb::HostMetric;
use crate::base::stamp::{self, Stamp};
use crate::base::{Lines, MetricHead};
use hashbrown::HashMap;

/// Largest number of values that are kept, at most 20 bytes each; a loop of one sample a second with ten processes has as many
/// in 70 days.
const MOST_VALUES: u64 = 60_000_000;

/// Largest number of processes that are kept.
const MOST_PROCESSES: usize = 100_000;

/// Reader of a log that arrives in chunks of any size.
#[derive(Debug, Default)]
pub struct HostReader {
    lines: Lines,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    log: HostLog,
    head: Option<Head>,
    /// Position of the current process of each process id.
    current: HashMap<u32, usize>,
    /// Processor time of each process at its last sample.
    cpu_s: Vec<u64>,
    /// True after a stamp without rows.
    is_new_sample: bool,
    /// Days to add to times without a date, because they passed midnight.
    midnights: i64,
    last_ms: Option<i64>,
    /// Time of the current sample as the log has it.
    last_stamp: Option<Stamp>,
    /// Milliseconds to add because the clock was set back.
    shift_ms: i64,
    /// Time of the last row that has one, as it was written.
    last_time: String,
    /// Number of rows of each form, by its position in [`HostForm::ALL`].
    forms: [u64; HostForm::ALL.len()],
    wandb: Option<MetricHead<HostMetric>>,
    /// Process ids of the runs of Weights & Biases, which has none.
    runs: HashMap<String, u32>,
    procs: ProcReader,
    usages: UsageReader,
    /// Process ids for processes that nothing names, by their addresses and their number in a sample.
    unnamed: HashMap<((u64, u64), usize), u32>,
    /// Number of unnamed processes with the same addresses in the current sample.
    in_sample: HashMap<(u64, u64), usize>,
    /// Mappings at the last sample that has any, with their resident and proportional bytes.
    mappings: HashMap<String, (u64, u64)>,
    /// Number of samples when those came.
    mapped_sample: usize,
    /// Bounds of the machine's memory in bytes that the shares of all processes allow.
    bounds: Option<(u64, u64)>,
    values: u64,
    oddities: Oddities,
}

impl HostReader {
    /// Reads the next bytes of the file.
    ///
    /// `other` receives lines that say nothing about processes or the machine, and those that are a time; it returns true
    /// for lines that it understands, and the rest count as not understood.
    pub fn push(&mut self, bytes: &[u8], other: &mut impl FnMut(&str) -> bool) {
        let Self { lines, state } = self;
        lines.push(bytes, |line| state.line(line, other));
    }

    /// Returns the log after the last bytes; it has no processes if nothing was understood.
    pub fn finish(self, other: &mut impl FnMut(&str) -> bool) -> HostLog {
        let Self { lines, mut state } = self;
        lines.finish(|line| state.line(line, other));
        state.finish()
    }
}

impl State {
    fn line(&mut self, line: &str, other: &mut impl FnMut(&str) -> bool) {
        if self.row(line) || line.trim().is_empty() {
            return;
        }
        if let Some(stamp) = stamp::stamp(line) {
            self.end_dumps();
            self.last_time.clear();
            self.sample(stamp);
            // Tables without times have that of the line above them.
            other(line);
            return;
        }
        let is_of_proc = self.procs.line(line);
        self.dumps();
        if let Some(name) = self.procs.forget_name() {
            self.oddities.unread(&name);
        }
        if is_of_proc || self.mprof(line) {
            return;
        }
        if self.wandb(line) {
            // The same row can have the memory of GPUs.
            other(line);
            return;
        }
        let (stamp, rest) = stamp::leading_time(line).map_or((None, line), |(stamp, rest)| (Some(stamp), rest));
        if let Some(head) = Head::of(rest) {
            // A head begins a new sample where the log has no times.
            self.is_new_sample |= self.log.clock == Clock::Samples;
            self.oddities.decimal = head.decimal.clone().or(self.oddities.decimal.take());
            self.head = Some(head);
        } else if let Some(kill) = machine::kill(line) {
            let sample = (self.log.times_ms.len() as u32).checked_sub(1);
            self.log.kills.push(Kill { sample, ..kill });
        } else if let Some(total) = machine::total(line) {
            self.total(total);
        } else if let Some(said) = shm::line(line) {
            self.shared(said);
        } else if let Some((pid, arenas)) = arenas::line(line) {
            self.arenas(pid, arenas);
        } else if let Some(said) = self.usages.line(rest) {
            self.said(said, stamp.or_else(|| trailing_time(line)));
        } else if !other(line) {
            self.other(line);
        }
    }

    fn other(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("top - ") {
            if let Some((stamp, _)) = stamp::leading_time(rest) {
                self.sample(stamp);
            }
        } else if let Some(step) = machine::step(line) {
            if let Some(sample) = (self.log.times_ms.len() as u32).checked_sub(1) {
                self.log.steps.push((sample, step));
            }
        } else if !(is_known(line) || self.procs.may_name(line)) {
            self.oddities.unread(line);
        }
    }

    /// Keeps the lower one of two totals.
    fn total(&mut self, total: Total) {
        if self.log.total.is_none_or(|known| total.bytes < known.bytes) {
            self.log.total = Some(total);
        }
        if total.source == TotalSource::Stated {
            self.log.machine.total_bytes = Some(total.bytes);
        }
    }

    /// Reads a row about a process; returns false for other lines.
    fn row(&mut self, line: &str) -> bool {
        // The row borrows the head, which is not changed meanwhile.
        let head = self.head.take();
        let is_row = self.row_of(head.as_ref(), line);
        self.head = head;
        is_row
    }

    fn row_of(&mut self, head: Option<&Head>, line: &str) -> bool {
        let of = |line| head.and_then(|head| Some((head.form, head.row(line)?))).or_else(|| headless(line));
        let (stamp, found) = match of(line) {
            Some(found) => (None, Some(found)),
            None => stamp::leading_time(line).map_or((None, None), |(stamp, rest)| (Some(stamp), of(rest))),
        };
        let Some((form, row)) = found else { return false };
        if let Some(stamp) = stamp {
            self.sample(stamp);
        }
        self.time(row.time);
        self.forms[form as usize] += 1;
        // A program that could not read the memory of a process leaves its cells empty.
        if row.rss_bytes.or(row.pss_bytes).is_some() {
            self.add(&row);
        }
        true
    }

    /// Reads a line of a file of `mprof`, whose sizes are MiB: `MEM 12.5 1795448812.25`, `CHLD 1 7.5 1795448812.25`.
    fn mprof(&mut self, line: &str) -> bool {
        let cells: Vec<&str> = line.split_ascii_whitespace().collect();
        let (pid, mib, time) = match cells.as_slice() {
            ["CMDLINE", ..] | ["FUNC", ..] => return true,
            ["MEM", mib, time] => (0, *mib, *time),
            ["CHLD", child, mib, time] => {
                (child.parse::<u32>().map_or(1, |child| child.saturating_add(1)), *mib, *time)
            }
            _ => return false,
        };
        let (Some(stamp), Ok(mib)) = (stamp::stamp(time), mib.parse::<f64>()) else { return false };
        self.sample(stamp);
        self.forms[HostForm::Mprof as usize] += 1;
        let command = if pid == 0 { "main process" } else { "child" };
        let rss_bytes = Some((mib.max(0.0) * (1 << 20) as f64) as u64);
        self.add(&Row { pid, command, rss_bytes, ..Row::default() });
        true
    }

    fn add(&mut self, row: &Row<'_>) {
        if self.values >= MOST_VALUES {
            self.oddities.beyond_limit += 1;
            return;
        }
        if self.log.times_ms.is_empty() || self.is_new_sample || self.is_again(row.pid) {
            self.next_sample();
        }
        let sample = self.log.times_ms.len() as u32 - 1;
        let Some(position) = self.process(row, sample) else {
            self.oddities.beyond_limit += 1;
            return;
        };
        let process = &mut self.log.processes[position];
        let kib = |bytes: u64| u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        process.samples.push(sample);
        process.rss_kib.push(row.rss_bytes.or(row.pss_bytes).map_or(0, kib));
        process.pss_kib.extend(row.pss_bytes.map(kib));
        process.file_kib.extend(row.parts.file_bytes.map(kib));
        process.shmem_kib.extend(row.parts.shmem_bytes.map(kib));
        if !row.parts.is_empty() {
            **process.parts.get_or_insert_default() = row.parts;
        }
        self.values += 1;
        self.bound(row);
    }

    /// Returns true if a log without times has the process in the current sample already.
    fn is_again(&self, pid: u32) -> bool {
        let last = self.current.get(&pid).and_then(|&position| self.log.processes[position].samples.last());
        self.log.clock == Clock::Samples && last.is_some_and(|&last| last as usize + 1 == self.log.times_ms.len())
    }

    fn next_sample(&mut self) {
        self.is_new_sample = false;
        if self.log.clock == Clock::Samples || self.log.times_ms.is_empty() {
            self.log.times_ms.push(self.log.times_ms.len() as i64 * 1000);
        }
    }

    /// Returns the position of the row's process; a process id that was used again is another process.
    fn process(&mut self, row: &Row<'_>, sample: u32) -> Option<usize> {
        if let Some(&position) = self.current.get(&row.pid) {
            let process = &mut self.log.processes[position];
            let is_younger = row.cpu_s.is_some_and(|cpu_s| cpu_s < self.cpu_s[position]);
            let was_away = process.samples.last().is_some_and(|last| last + 1 < sample);
            let is_other = !row.command.is_empty() && process.command != row.command;
            if !(is_younger || (is_other && was_away)) {
                if process.samples.last() == Some(&sample) {
                    // The same process twice in one sample, as from two tools: the later row counts.
                    process.samples.pop();
                    process.rss_kib.pop();
                    for kib in [&mut process.pss_kib, &mut process.file_kib, &mut process.shmem_kib] {
                        kib.truncate(process.samples.len());
                    }
                }
                if is_other {
                    row.command.clone_into(&mut process.command);
                }
                self.cpu_s[position] = row.cpu_s.unwrap_or(0);
                return Some(position);
            }
            self.oddities.reused += 1;
        }
        if self.log.processes.len() >= MOST_PROCESSES {
            return None;
        }
        let position = self.log.processes.len();
        self.log.processes.push(Process {
            pid: row.pid,
            parent: row.parent,
            user: row.user.to_owned(),
            command: row.command.to_owned(),
            ..Process::default()
        });
        self.cpu_s.push(row.cpu_s.unwrap_or(0));
        self.current.insert(row.pid, position);
        Some(position)
    }

    /// Narrows the machine's memory: a share of 12.3 % means that the process has between 12.25 % and 12.35 % of it.
    fn bound(&mut self, row: &Row<'_>) {
        let (Some(rss_bytes), Some(permille)) = (row.rss_bytes, row.memory_permille) else { return };
        if permille < 5 || rss_bytes == 0 {
            return;
        }
        let of = |half_permille: u32| (rss_bytes as f64 * 2000.0 / f64::from(half_permille)) as u64;
        let (low, high) = (of(2 * permille + 1), of(2 * permille - 1));
        let (lowest, highest) = self.bounds.unwrap_or((0, u64::MAX));
        let narrower = (lowest.max(low), highest.min(high));
        // Rounding down instead, as some versions of ps do, can make bounds contradict each other.
        if narrower.0 <= narrower.1 {
            self.bounds = Some(narrower);
        }
    }

    fn finish(mut self) -> HostLog {
        self.end_dumps();
        if let Some(name) = self.procs.forget_name() {
            self.oddities.unread(&name);
        }
        let most = HostForm::ALL.into_iter().max_by_key(|form| (self.forms[*form as usize], form.name()));
        if let Some(form) = most.filter(|form| self.forms[*form as usize] > 0) {
            self.log.form = form;
        } else if !self.log.kills.is_empty() {
            self.log.form = HostForm::KernelLog;
        }
        if let (None, Some((low, high))) = (self.log.total, self.bounds) {
            self.log.total = Some(Total { bytes: low + (high - low) / 2, source: TotalSource::Inferred });
        }
        self.log.mappings = sorted(self.mappings);
        self.oddities.unit = self.usages.unit();
        if self.unnamed.len() < 2 && self.log.clock != Clock::Samples {
            // The one process needs no name.
            self.oddities.unnamed = 0;
        }
        self.oddities.is_wandb = !self.runs.is_empty();
        self.oddities.too_small = too_small(&self.log);
        self.log.diagnostics = self.oddities.diagnostics();
        self.log
    }
}

/// Returns the largest RSS of a table if it is less than 1 MiB, as no process of Python has it.
fn too_small(log: &HostLog) -> Option<u64> {
    let most = log.processes.iter().flat_map(|process| &process.rss_kib).max();
    most.filter(|kib| log.form == HostForm::Csv && **kib < 1 << 10).map(|kib| u64::from(*kib) << 10)
}

/// Returns the time at the end of a row, as `vmstat -t` has it.
fn trailing_time(line: &str) -> Option<Stamp> {
    let mut words = line.trim_end().rsplitn(3, ' ');
    let (time, date) = (words.next()?, words.next()?);
    stamp::stamp(&format!("{date} {time}"))
}

/// Returns true for lines that tools print and that say nothing about single processes.
fn is_known(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "Tasks:", "Threads:", "%Cpu", "Cpu(s)", "KiB ", "MiB ", "GiB ", "Swap:", "total ", "Linux ", "Average:", "---",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}
