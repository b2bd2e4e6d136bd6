//! Takes what lines say about the machine, and about processes in several lines each.

use super::super::log::{Arenas, Clock, HostForm, Total, TotalSource};
use super::super::proc::Dump;
use super::super::row::Row;
use super::super::shm::SharedLine;
use super::super::usage::{Said, Usage};
use super::super::wandb;
use super::{HostReader, MOST_VALUES};
use hashbrown::HashMap;
use shared::base::MetricTime;
use shared::base::stamp::Stamp;

impl HostReader {
    /// Ends what lines of `/proc` say so far, because the next ones belong to another sample.
    pub(super) fn end_dumps(&mut self) {
        self.procs.end();
        self.dumps();
        if let Some(usage) = self.usages.end() {
            self.usage(usage);
        }
    }

    /// Takes the processes of `/proc` that have ended.
    pub(super) fn dumps(&mut self) {
        for dump in self.procs.take() {
            self.dump(dump);
        }
    }

    fn dump(&mut self, dump: Dump) {
        self.forms[HostForm::Proc as usize] += 1;
        let pid = dump.pid.unwrap_or_else(|| self.unnamed(dump.range));
        let (rss_bytes, pss_bytes) = (dump.rss_bytes, dump.pss_bytes);
        let Dump { parent, parts, .. } = dump;
        let before = self.log.times_ms.len();
        self.add(&Row { pid, parent, command: &dump.name, rss_bytes, pss_bytes, parts, ..Row::default() });
        if !dump.mappings.is_empty() {
            self.mappings(dump.mappings, before);
        }
    }

    /// Returns an id for a process without one: processes with the same addresses in one sample were forked.
    fn unnamed(&mut self, range: (u64, u64)) -> u32 {
        self.oddities.unnamed += 1;
        let number = match self.log.clock {
            Clock::Samples => 0,
            _ => {
                let count = self.in_sample.entry(range).or_default();
                *count += 1;
                *count
            }
        };
        let next = self.unnamed.len() as u32;
        *self.unnamed.entry((range, number)).or_insert(next)
    }

    /// Adds the mappings of a process to those of the sample, or replaces those of the sample before.
    fn mappings(&mut self, mappings: HashMap<String, (u64, u64)>, samples_before: usize) {
        let sample = self.log.times_ms.len();
        if self.mapped_sample != sample || sample != samples_before {
            self.mappings.clear();
        }
        self.mapped_sample = sample;
        for (name, (rss, pss)) in mappings {
            let sums = self.mappings.entry(name).or_default();
            *sums = (sums.0.saturating_add(rss), sums.1.saturating_add(pss));
        }
    }

    /// Takes what a line says about the machine, with the time of the line.
    pub(super) fn said(&mut self, said: Said, stamp: Option<Stamp>) {
        match said {
            Said::Nothing => {}
            Said::Usage(usage) => {
                if let Some(stamp) = stamp {
                    self.sample(stamp);
                }
                self.usage(usage);
            }
            Said::Swap(bytes) => {
                if let Some(swap) = self.log.machine.swap_bytes.last_mut() {
                    *swap = bytes;
                }
            }
        }
    }

    fn usage(&mut self, usage: Usage) {
        self.forms[usage.form as usize] += 1;
        if let Some(bytes) = usage.total_bytes {
            self.log.machine.total_bytes.get_or_insert(bytes);
            self.total(Total { bytes, source: TotalSource::Stated });
        }
        if self.values >= MOST_VALUES {
            self.oddities.beyond_limit += 1;
            return;
        }
        let last = self.log.machine.samples.last().copied();
        let is_current = last.is_some_and(|last| last as usize + 1 == self.log.times_ms.len());
        if self.log.times_ms.is_empty() || self.is_new_sample || (is_current && self.log.clock == Clock::Samples) {
            self.next_sample();
        } else if is_current {
            self.log.machine.pop();
        }
        self.values += 1;
        let sample = self.log.times_ms.len() as u32 - 1;
        self.log.machine.push(sample, usage.available_bytes, usage.swap_bytes);
    }

    /// Keeps the arenas of a process when they have the most memory.
    pub(super) fn arenas(&mut self, pid: u32, arenas: Arenas) {
        if let Some(&position) = self.current.get(&pid) {
            let process = &mut self.log.processes[position];
            process.arenas = process.arenas.max(Some(arenas));
        }
    }

    /// Takes what a line says about shared memory, for the sample above it.
    pub(super) fn shared(&mut self, said: SharedLine) {
        let Some(sample) = self.current_sample() else { return };
        if self.values >= MOST_VALUES {
            self.oddities.beyond_limit += 1;
            return;
        }
        self.values += 1;
        self.log.shared.add(sample, said);
    }

    /// Reads a line of a table of Weights & Biases: its head or a row.
    pub(super) fn wandb(&mut self, line: &str) -> bool {
        if let Some(head) = wandb::head(line) {
            self.wandb = Some(head);
            return true;
        }
        let Some(head) = self.wandb.take() else { return false };
        let row = head.row(line);
        let is_row = row.is_some();
        if let Some((time, values)) = row {
            match time {
                MetricTime::Date(stamp) => self.sample(stamp),
                MetricTime::Elapsed(ms) => self.sample_of(Stamp::of_epoch(ms), Clock::Elapsed),
            }
            for run in wandb::runs(values) {
                self.run(run);
            }
        }
        self.wandb = Some(head);
        is_row
    }

    fn run(&mut self, run: wandb::RunMemory<'_>) {
        if let (Some(bytes), None) = (run.total_bytes, self.log.total) {
            self.total(Total { bytes, source: TotalSource::Inferred });
            self.log.machine.total_bytes.get_or_insert(bytes);
        }
        if let Some(available_bytes) = run.available_bytes {
            self.usage(Usage { form: HostForm::Wandb, total_bytes: None, available_bytes, swap_bytes: 0 });
        }
        if run.rss_bytes.is_some() {
            let next = self.runs.len() as u32;
            let pid = *self.runs.entry_ref(run.run).or_insert(next);
            self.forms[HostForm::Wandb as usize] += 1;
            let command = if run.run.is_empty() { "the run" } else { run.run };
            self.add(&Row { pid, command, rss_bytes: run.rss_bytes, ..Row::default() });
        }
    }
}
