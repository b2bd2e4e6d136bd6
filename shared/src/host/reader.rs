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

use super::log::{Clock, HostForm, HostLog, Kill, Process, Total, TotalSource};
use super::machine;
use super::row::{Head, Row, headless};
use crate::base::stamp::{self, Stamp};
use crate::base::{Diagnostic, Lines, Severity, format};
use hashbrown::HashMap;

/// Largest number of values that are kept, 12 bytes each; a loop of one sample a second with ten processes has as many
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
    forms: HashMap<HostForm, u64>,
    /// Bounds of the machine's memory in bytes that the shares of all processes allow.
    bounds: Option<(u64, u64)>,
    values: u64,
    oddities: Oddities,
}

#[derive(Debug, Default)]
struct Oddities {
    unread: u64,
    first_unread: String,
    clock_back: u64,
    beyond_limit: u64,
    reused: u64,
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
        if line.trim().is_empty() {
            return;
        }
        if let Some(stamp) = stamp::stamp(line) {
            self.sample(stamp);
            // Tables without times have that of the line above them.
            other(line);
        } else if let Some(head) = Head::of(stamp::leading_time(line).map_or(line, |(_, rest)| rest)) {
            // A head begins a new sample where the log has no times.
            self.is_new_sample |= self.log.clock == Clock::Samples;
            self.head = Some(head);
        } else if let Some(kill) = machine::kill(line) {
            let sample = (self.log.times_ms.len() as u32).checked_sub(1);
            self.log.kills.push(Kill { sample, ..kill });
        } else if let Some(total) = machine::total(line) {
            let is_lower = self.log.total.is_none_or(|known| total.bytes < known.bytes);
            self.log.total = if is_lower { Some(total) } else { self.log.total };
        } else if !(self.mprof(line) || self.row(line) || other(line)) {
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
        } else if !is_known(line) {
            self.oddities.unread += 1;
            if self.oddities.first_unread.is_empty() {
                self.oddities.first_unread = line.chars().take(80).collect();
            }
        }
    }

    /// Begins a sample at a time; a line with the time of the current sample belongs to it.
    fn sample(&mut self, stamp: Stamp) {
        const HALF_DAY_MS: i64 = Stamp::DAY_MS / 2;
        if self.last_stamp.replace(stamp) == Some(stamp) {
            return;
        }
        if self.log.times_ms.is_empty() {
            self.log.zone_min = stamp.offset_min.unwrap_or(0);
        }
        let clock = if stamp.day.is_some() { Clock::Dates } else { Clock::TimeOfDay };
        match self.log.times_ms.len() {
            0 => self.log.clock = clock,
            // The loop prints the time behind the rows, so that the first sample came without one.
            1 if self.log.clock == Clock::Samples => {
                self.log.times_ms.clear();
                self.log.clock = clock;
            }
            _ if self.log.clock == Clock::Samples => {
                self.is_new_sample = true;
                return;
            }
            _ => {}
        }
        let mut ms = match self.log.clock {
            Clock::Dates => stamp.epoch_ms().unwrap_or_else(|| self.last_ms.unwrap_or(0)),
            _ => stamp.time_ms + self.midnights * Stamp::DAY_MS,
        };
        if self.log.clock != Clock::Dates && self.last_ms.is_some_and(|last| last - ms > HALF_DAY_MS) {
            self.midnights += 1;
            ms += Stamp::DAY_MS;
        }
        ms += self.shift_ms;
        if let Some(last) = self.last_ms.filter(|last| ms < *last) {
            // The clock was set back: the samples go on as if nothing had happened between the two.
            self.oddities.clock_back += 1;
            self.shift_ms += last - ms;
            ms = last;
        }
        self.last_ms = Some(ms);
        self.log.times_ms.push(ms);
        self.is_new_sample = false;
    }

    /// Reads a row about a process; returns false for other lines.
    fn row(&mut self, line: &str) -> bool {
        let (time, rest) = match stamp::leading_time(line) {
            Some((stamp, rest)) => (Some(stamp), rest),
            None => (None, line),
        };
        let of_head = self.head.as_ref().and_then(|head| Some((head.form, head.row(rest)?)));
        let Some((form, row)) = of_head.or_else(|| headless(rest)) else { return false };
        if let Some(stamp) = time.or(row.stamp) {
            self.sample(stamp);
        }
        *self.forms.entry(form).or_default() += 1;
        self.add(&row);
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
        *self.forms.entry(HostForm::Mprof).or_default() += 1;
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
            let is_other = process.command != row.command;
            if !(is_younger || (is_other && was_away)) {
                if process.samples.last() == Some(&sample) {
                    // The same process twice in one sample, as from two tools: the later row counts.
                    process.samples.pop();
                    process.rss_kib.pop();
                    process.pss_kib.truncate(process.samples.len());
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
        if let Some((&form, _)) = self.forms.iter().max_by_key(|(form, count)| (**count, form.name())) {
            self.log.form = form;
        } else if !self.log.kills.is_empty() {
            self.log.form = HostForm::KernelLog;
        }
        if let (None, Some((low, high))) = (self.log.total, self.bounds) {
            self.log.total = Some(Total { bytes: low + (high - low) / 2, source: TotalSource::Inferred });
        }
        self.log.diagnostics = self.oddities.diagnostics();
        self.log
    }
}

/// Returns true for lines that tools print and that say nothing about single processes.
fn is_known(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "Tasks:", "Threads:", "%Cpu", "Cpu(s)", "KiB ", "MiB ", "GiB ", "Swap:", "total ", "Linux ", "Average:", "---",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

impl Oddities {
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let one =
            |code, severity, count: u64, message: String| Diagnostic { code, severity, count, message, offset: None };
        let mut all = Vec::new();
        if self.beyond_limit > 0 {
            let rows = format::counted(self.beyond_limit, "row");
            let message = format!("The log is longer than can be kept, without {rows} at its end.");
            all.push(one("host-log-too-long", Severity::Warning, self.beyond_limit, message));
        }
        if self.clock_back > 0 {
            let message = "The clock was set back while the log was written; the samples after that were moved on.";
            all.push(one("host-clock-set-back", Severity::Warning, self.clock_back, message.to_owned()));
        }
        if self.reused > 0 {
            let message = "A process id was used again by another process; the two are kept apart.";
            all.push(one("host-process-id-reused", Severity::Info, self.reused, message.to_owned()));
        }
        if self.unread > 0 {
            let lines = format::counted(self.unread, "line");
            let message =
                format!("Left out as not understood: {lines}, of which the first is “{}”.", self.first_unread);
            all.push(one("host-lines-unread", Severity::Info, self.unread, message));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> HostLog {
        let mut reader = HostReader::default();
        reader.push(text.as_bytes(), &mut |_| false);
        reader.finish(&mut |_| false)
    }

    fn aux(pid: u32, rss_kib: u32, cpu: &str, command: &str) -> String {
        format!("ml {pid} 99.5 {:.1} 987654 {rss_kib} pts/0 Rl+ 10:12 {cpu} {command}\n", f64::from(rss_kib) / 10_486.0)
    }

    #[test]
    fn the_loop_of_date_and_ps() {
        let mut text = String::new();
        for second in 0..3 {
            text += &format!("Mon Nov 23 15:46:5{second} UTC 2026\n");
            text += &aux(17, 100_000 + second * 1000, "0:01", "python train.py");
            text += &aux(18, 50_000, "0:01", "python train.py");
        }
        let log = read(&text);
        assert_eq!((log.clock, log.form, log.diagnostics.len()), (Clock::Dates, HostForm::Ps, 0));
        assert_eq!(log.times_ms, [1_795_448_810_000, 1_795_448_811_000, 1_795_448_812_000]);
        assert_eq!(log.processes[0].rss_kib, [100_000, 101_000, 102_000]);
        assert_eq!(log.processes[1].samples, [0, 1, 2]);
        let total = log.total.unwrap();
        let share = total.bytes as f64 / (1_048_600.0 * 1024.0);
        assert!(total.source == TotalSource::Inferred && (0.99..1.01).contains(&share), "{share}");
        for size in [1, 7, 64] {
            let mut reader = HostReader::default();
            text.as_bytes().chunks(size).for_each(|chunk| reader.push(chunk, &mut |_| false));
            assert_eq!(reader.finish(&mut |_| false), log);
        }
    }

    #[test]
    fn without_times_a_process_that_comes_again_begins_a_sample() {
        let block = aux(17, 1000, "0:01", "python a.py") + &aux(18, 2000, "0:01", "python a.py");
        let log = read(&block.repeat(3));
        assert_eq!((log.clock, log.times_ms.len()), (Clock::Samples, 3));
        assert_eq!(log.processes.iter().map(|process| process.samples.len()).collect::<Vec<_>>(), [3, 3]);
    }

    #[test]
    fn a_time_may_stand_behind_the_rows() {
        let at = |second: u32| aux(17, 1000, "0:01", "python a.py") + &format!("2026-11-23 15:46:5{second}\n");
        let log = read(&(0..3).map(at).collect::<String>());
        assert_eq!((log.clock, log.times_ms.len()), (Clock::Dates, 3));
        // The rows count for the time before them; the first two share the first time.
        assert_eq!(log.processes[0].samples, [0, 1]);
    }

    #[test]
    fn a_process_id_may_be_used_again() {
        let at = |time: &str, cpu: &str| format!("10:00:{time}\n{}", aux(17, 1000, cpu, "python a.py"));
        let log = read(&(at("01", "5:00") + &at("02", "5:01") + &at("03", "0:00")));
        assert_eq!(log.processes.len(), 2);
        assert_eq!(log.diagnostics[0].code, "host-process-id-reused");
    }

    #[test]
    fn midnight_passes_and_clocks_jump() {
        let at = |time: &str| format!("{time}\n{}", aux(17, 1000, "0:01", "python a.py"));
        let log = read(&(at("23:59:59") + &at("00:00:01")));
        assert_eq!(log.times_ms, [86_399_000, 86_401_000]);
        let back = read(&(at("10:00:05") + &at("10:00:01") + &at("10:00:02")));
        assert_eq!(back.times_ms, [36_005_000, 36_005_000, 36_006_000]);
        assert_eq!(back.diagnostics[0].code, "host-clock-set-back");
    }

    #[test]
    fn rows_of_one_sample_stay_together_after_the_clock_was_set_back() {
        let at = |second: u32| format!("2026-11-23 10:00:0{second},17,5000,a\n2026-11-23 10:00:0{second},18,5000,a\n");
        let log = read(&("time,pid,rss,cmd\n".to_owned() + &at(5) + &at(1) + &at(2)));
        assert_eq!(log.times_ms.len(), 3);
        assert_eq!(
            log.processes.iter().map(|process| &process.samples[..]).collect::<Vec<_>>(),
            [[0, 1, 2], [0, 1, 2]]
        );
    }

    #[test]
    fn a_file_of_mprof_counts_mebibytes() {
        let text = "CMDLINE python train.py\nMEM 100.0 1795448810.0000\nCHLD 0 50.0 1795448810.0000\n\
                    MEM 101.5 1795448810.1000\n";
        let log = read(text);
        assert_eq!((log.form, log.processes.len()), (HostForm::Mprof, 2));
        assert_eq!(log.processes[0].rss_kib, [102_400, 103_936]);
    }

    #[test]
    fn what_is_not_understood_is_counted() {
        let text = aux(17, 1000, "0:01", "python a.py") + "grep: warning: stray \\\nbash: fork: retry\nstep 3\n";
        let log = read(&text);
        assert_eq!(log.diagnostics[0].count, 2);
        assert!(log.diagnostics[0].message.contains("grep: warning"), "{}", log.diagnostics[0].message);
        assert_eq!(log.steps, [(0, 3)]);
    }
}
