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
mod repeated;
mod samples;

use super::containers::ContainerReader;
use super::head::Head;
use super::log::{Clock, HostForm, HostLog, Kill, Process, Total, TotalSource};
use super::oddities::{Gap, Oddities};
use super::proc::{ProcReader, sorted};
use super::row::{Row, behind, headless};
use super::usage::UsageReader;
use super::wandb::HostMetric;
use super::{arenas, machine, shm};
use hashbrown::HashMap;
use repeated::{Added, RepeatedRows};
use shared::base::MetricHead;
use shared::base::stamp::{self, Stamp};

/// Largest number of values that are kept, at most 20 bytes each; a loop of one sample a second with 100 processes has
/// 60,480,000 in a week.
const MOST_VALUES: u64 = 64_000_000;

const MOST_CONTAINERS: usize = 1000;

const MOST_PROCESSES: usize = 100_000;

#[derive(Debug, Default)]
pub struct HostReader {
    log: HostLog,
    head: Option<Head>,
    /// Line of the head, which many tools repeat above each sample.
    head_line: String,
    repeated: RepeatedRows,
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
    containers: ContainerReader,
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
    /// Reads the next line.
    ///
    /// `other` receives lines that say nothing about processes or the machine, and those that are a time; it returns true
    /// for lines that it understands, and the rest count as not understood.
    pub fn line(&mut self, line: &str, other: &mut impl FnMut(&str) -> bool) {
        if self.repeats(line) || self.row(line) || line.trim().is_empty() {
            return;
        }
        if line == self.head_line {
            self.is_new_sample |= self.log.clock == Clock::Samples;
            return;
        }
        // A loop may cut the head off.
        if self.head.is_none()
            && let Some(head) = Head::of_command(line)
        {
            self.head = Some(head);
            return;
        }
        // `date +%H:%M` alone in a line.
        let of_minute = is_minute(line).then(|| stamp::stamp(&format!("{line}:00"))).flatten();
        if let Some(stamp) = of_minute.or_else(|| stamp::stamp(line)) {
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
        let timed = leading(line);
        if let Some((stamp, (head, rows))) =
            timed.iter().find_map(|&(stamp, rest)| Some((stamp, Head::before_rows(rest)?)))
        {
            self.joined_below(head, stamp, rows);
            return;
        }
        let (stamp, rest) = timed[0];
        if let Some((stamp, head)) = timed.iter().find_map(|(stamp, rest)| Some((stamp, Head::of(rest)?))) {
            if let Some(stamp) = *stamp {
                self.sample(stamp);
            }
            // A head begins a new sample where the log has no times, unless it is the one below the machine's memory.
            self.is_new_sample |= self.log.clock == Clock::Samples && !self.awaits_rows();
            self.oddities.decimal = head.decimal.clone().or(self.oddities.decimal.take());
            if self.head.as_ref() != Some(&head) {
                self.repeated.forget();
            }
            line.clone_into(&mut self.head_line);
            self.head = Some(head);
        } else if let Some(kill) = machine::kill(line) {
            // Three lines tell of one.
            match self.log.kills.last_mut().filter(|last| last.pid == kill.pid) {
                Some(last) if last.rss_bytes.is_none() => *last = Kill { sample: last.sample, ..kill },
                Some(_) => {}
                None => self.log.kills.push(Kill { sample: self.current_sample(), ..kill }),
            }
        } else if let Some(total) = machine::total(line) {
            self.total(total);
        } else if let Some(said) = shm::line(line) {
            self.shared(said);
        } else if let Some(said) = shm::row_of_df(line) {
            let last = self.log.shared.samples.last().map(|last| last.sample);
            if self.current_sample().is_none() || self.log.clock == Clock::Samples && last == self.current_sample() {
                self.next_sample();
            }
            self.shared(said);
            other(line);
        } else if let Some(left) = shm::left(line) {
            self.log.shared.left = Some(left);
        } else if let Some(container) = self.containers.line(line) {
            self.log.containers.retain(|known| container.as_ref().is_none_or(|new| new.name != known.name));
            self.log.containers.extend(container.filter(|_| self.log.containers.len() < MOST_CONTAINERS));
        } else if let Some((pid, arenas)) = arenas::line(line) {
            self.arenas(pid, arenas);
        } else if let Some(said) = self.usages.line(rest) {
            self.said(said, stamp);
        } else if !other(line) && !machine::pressure(line, &mut self.log.pressure) {
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
            self.log.steps.extend(self.current_sample().map(|sample| (sample, step)));
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

    /// Takes a row that says the same as one of the sample before; returns false for other lines.
    fn repeats(&mut self, line: &str) -> bool {
        let Some(sample) = self.timed_sample() else { return false };
        let Some(text) = without_time(line, self.head.as_ref(), &self.last_time) else { return false };
        let Some(added) = self.repeated.find(sample, text.as_bytes()) else { return false };
        let process = &mut self.log.processes[added.process];
        // The process may have come in another row of this sample, too.
        if process.samples.last().is_none_or(|last| last + 1 != sample) || self.values >= MOST_VALUES {
            return false;
        }
        self.forms[added.form as usize] += 1;
        self.values += 1;
        push(process, sample, &added);
        true
    }

    fn current_sample(&self) -> Option<u32> {
        (self.log.times_ms.len() as u32).checked_sub(1)
    }

    /// Returns the current sample if it has a time, so that no row can begin another one.
    fn timed_sample(&self) -> Option<u32> {
        self.current_sample().filter(|_| self.log.clock != Clock::Samples)
    }

    fn row(&mut self, line: &str) -> bool {
        // The row borrows the head, which is not changed meanwhile.
        let head = self.head.take();
        let is_row = self.row_of(head.as_ref(), line);
        self.head = head;
        is_row
    }

    fn row_of(&mut self, head: Option<&Head>, line: &str) -> bool {
        let of = |line| head.and_then(|head| Some((head.form, head.row(line)?))).or_else(|| headless(line));
        let with_time = || leading(line).into_iter().find_map(|(stamp, rest)| Some((stamp, of(rest)?)));
        let alone = |found| (None, found);
        let found = of(line).map(alone).or_else(with_time).or_else(|| behind(line).map(alone));
        let Some((stamp, (form, row))) = found else { return false };
        if let Some(stamp) = stamp.filter(|stamp| !self.is_late(stamp, row.pid)) {
            self.sample(stamp);
        }
        self.time(row.time);
        let (row, rest) = row.split(headless);
        if !rest.is_empty() {
            self.is_new_sample |= self.log.clock == Clock::Samples;
            self.joined(row, form, rest, headless);
            return true;
        }
        self.forms[form as usize] += 1;
        // A program that could not read the memory of a process leaves its cells empty.
        if row.rss_bytes.or(row.pss_bytes).is_some()
            && let Some(added) = self.add(&row)
            && let (None, Some(sample), Some(text)) =
                (stamp, self.timed_sample(), without_time(line, head, &self.last_time))
        {
            self.repeated.keep(sample, text.as_bytes(), Added { form, ..added });
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

    /// Adds a row to the current sample; `None` if there is no room for it.
    fn add(&mut self, row: &Row<'_>) -> Option<Added> {
        if self.values >= MOST_VALUES {
            self.oddities.beyond_limit += 1;
            return None;
        }
        if self.log.times_ms.is_empty() || self.is_new_sample || self.is_again(row.pid) {
            self.next_sample();
        }
        let sample = self.log.times_ms.len() as u32 - 1;
        let Some(position) = self.process(row, sample) else {
            self.oddities.beyond_limit += 1;
            return None;
        };
        let process = &mut self.log.processes[position];
        let kib = |bytes: u64| u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        let added = Added {
            process: position,
            rss_kib: row.rss_bytes.or(row.pss_bytes).map_or(0, kib),
            pss_kib: row.pss_bytes.map(kib),
            file_kib: row.parts.file_bytes.map(kib),
            shmem_kib: row.parts.shmem_bytes.map(kib),
            ..Added::default()
        };
        push(process, sample, &added);
        if !row.parts.is_empty() {
            **process.parts.get_or_insert_default() = row.parts;
        }
        self.values += 1;
        self.bound(row);
        Some(added)
    }

    /// Returns true if a log without times has the process in the current sample already.
    fn is_again(&self, pid: u32) -> bool {
        let last = self.current.get(&pid).and_then(|&position| self.log.processes[position].samples.last());
        self.log.clock == Clock::Samples && last.is_some_and(|&last| last as usize + 1 == self.log.times_ms.len())
    }

    /// Returns true if the current sample has the memory of the machine and no process.
    fn awaits_rows(&self) -> bool {
        let current = (self.log.times_ms.len() as u32).checked_sub(1);
        let is_current = |samples: &[u32]| samples.last().copied() == current;
        current.is_some()
            && is_current(&self.log.machine.samples)
            && !self.log.processes.iter().any(|process| is_current(&process.samples))
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
                    self.repeated.forget();
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
            self.repeated.forget();
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

    /// Returns the log after the last line; it has no processes if nothing was understood.
    pub fn finish(mut self) -> HostLog {
        self.end_dumps();
        if let Some(name) = self.procs.forget_name() {
            self.oddities.unread(&name);
        }
        if let Some(form) = log_form(&self.forms) {
            self.log.form = form;
        } else if !(self.log.kills.is_empty() && self.log.pressure.is_empty()) {
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
        self.oddities.gap = Gap::longest(&self.log);
        self.log.diagnostics = self.oddities.diagnostics();
        self.log
    }
}

/// Returns the times that may begin a line, each with the rest of the line; at last none with the whole line.
fn leading(line: &str) -> Vec<(Option<Stamp>, &str)> {
    // Many lines are a time alone.
    if !line.trim().contains(' ') {
        return vec![(None, line)];
    }
    let times = stamp::leading_dates(line).into_iter().chain(stamp::leading_time(line));
    times.map(|(stamp, rest)| (Some(stamp), rest)).chain([(None, line)]).collect()
}

/// Returns a row without the time at its beginning, if its table has one; `None` if that is not the time of the sample.
fn without_time<'a>(line: &'a str, head: Option<&Head>, last_time: &str) -> Option<&'a str> {
    match head.and_then(Head::time_separator) {
        Some(separator) => line.strip_prefix(last_time)?.strip_prefix(separator),
        None => Some(line),
    }
}

fn push(process: &mut Process, sample: u32, added: &Added) {
    process.samples.push(sample);
    process.rss_kib.push(added.rss_kib);
    process.pss_kib.extend(added.pss_kib);
    process.file_kib.extend(added.file_kib);
    process.shmem_kib.extend(added.shmem_kib);
}

/// Returns the form with the most rows, given the number of each; `None` without any.
fn log_form(forms: &[u64; HostForm::ALL.len()]) -> Option<HostForm> {
    let most = HostForm::ALL.into_iter().max_by_key(|form| (forms[*form as usize], form.name()));
    most.filter(|form| forms[*form as usize] > 0)
}

/// Returns the largest RSS of a table if it is less than 1 MiB, as no process of Python has it.
fn too_small(log: &HostLog) -> Option<u64> {
    let most = log.processes.iter().flat_map(|process| &process.rss_kib).max();
    most.filter(|kib| log.form == HostForm::Csv && **kib < 1 << 10).map(|kib| u64::from(*kib) << 10)
}

/// Returns true for lines that tools print and that say nothing about single processes.
fn is_known(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "Tasks:", "Threads:", "%Cpu", "Cpu(s)", "KiB ", "MiB ", "GiB ", "Swap:", "total ", "Linux ", "Average:", "---",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Returns true for `09:10`.
fn is_minute(line: &str) -> bool {
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    line.split_once(':').is_some_and(|(hour, minute)| digits(hour) && digits(minute))
}
