//! Counts what is odd in a log of host memory, and says it.

use super::log::{Clock, HostLog};
use super::usage::Unit;
use shared::base::{Diagnostic, Severity, format};

#[derive(Debug, Default)]
pub(super) struct Oddities {
    pub(super) unread: u64,
    first_unread: String,
    pub(super) clock_back: u64,
    pub(super) beyond_limit: u64,
    pub(super) reused: u64,
    /// Samples of processes that nothing names.
    pub(super) unnamed: u64,
    /// Name of a column whose unit is read as a power of 2.
    pub(super) decimal: Option<String>,
    /// Unit of figures of `free`, which does not print it.
    pub(super) unit: Option<Unit>,
    /// True if Weights & Biases sampled the processes.
    pub(super) is_wandb: bool,
    pub(super) gap: Option<Gap>,
    /// Largest RSS of a table without units, if it is too small for bytes.
    pub(super) too_small: Option<u64>,
}

impl Oddities {
    pub(super) fn unread(&mut self, line: &str) {
        self.unread += 1;
        if self.first_unread.is_empty() {
            self.first_unread = line.trim().chars().take(80).collect();
        }
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        let mut add = |code, severity, count: u64, message: &str| {
            if count > 0 {
                all.push(Diagnostic { code, severity, count, message: message.to_owned(), offset: None });
            }
        };
        let rows = format::counted(self.beyond_limit, "row");
        let message = format!("The log is longer than can be kept, without {rows} at its end.");
        add("host-log-too-long", Severity::Warning, self.beyond_limit, &message);
        let message = "The clock was set back while the log was written; the samples after that were moved on.";
        add("host-clock-set-back", Severity::Warning, self.clock_back, message);
        if let Some(Gap { length_ms, after_ms, interval_ms, count }) = self.gap {
            let duration = |ms: i64| format::duration(ms.unsigned_abs().saturating_mul(1000));
            let message = format!(
                "{} without samples begins {} after the start, where samples usually come every {}: the machine slept, its \
                 clock was set forward, or a part of the log is missing. Rates count that time.",
                duration(length_ms),
                duration(after_ms),
                duration(interval_ms)
            );
            add("host-log-gap", Severity::Info, count, &message);
        }
        let message = "A process id was used again by another process; the two are kept apart.";
        add("host-process-id-reused", Severity::Info, self.reused, message);
        let message = "Nothing in the log names these processes: those with the same addresses count as one. Print the \
                       names of the files, as tail -n +1 /proc/[0-9]*/smaps_rollup does.";
        add("host-process-unnamed", Severity::Warning, self.unnamed, message);
        let message = "Weights & Biases samples the process that calls wandb.init, without the workers that it starts \
                       unless x_stats_track_process_tree is set.";
        add("host-workers-missing", Severity::Info, u64::from(self.is_wandb), message);
        if let Some(name) = &self.decimal {
            let message =
                format!("Sizes in column {name} are taken as powers of 1024, as most scripts calculate them.");
            add("host-unit-decimal", Severity::Info, 1, &message);
        }
        if let Some(unit) = self.unit.filter(|unit| unit.is_assumed) {
            let (name, option) = if unit.bytes == 1 << 20 { ("MiB", "-m") } else { ("GiB", "-g") };
            let message = format!(
                "The figures of the machine's memory have no unit: they were read as {name}, as those of free {option}."
            );
            add("host-unit-assumed", Severity::Warning, 1, &message);
        }
        if let Some(bytes) = self.too_small {
            let message = format!(
                "The table names no unit, so that its sizes were read as bytes: then no process has more than {}. Name \
                 the column rss_kb, rss_mb or rss_gb if it counts those.",
                format::bytes(bytes)
            );
            add("host-unit-unlikely", Severity::Warning, 1, &message);
        }
        let lines = format::counted(self.unread, "line");
        let message = format!("Left out as not understood: {lines}, of which the first is “{}”.", self.first_unread);
        add("host-lines-unread", Severity::Info, self.unread, &message);
        all
    }
}

/// Shortest gap that counts, in milliseconds, and as a multiple of the usual interval.
const LEAST_MS: i64 = 60_000;
const LEAST_INTERVALS: i64 = 30;

/// Longest time without samples: a suspended machine, a clock that was set forward, or a file that is missing.
#[derive(Debug)]
pub(super) struct Gap {
    /// Milliseconds from the sample before it to the one after it.
    length_ms: i64,
    /// Milliseconds from the first sample of the log to the one before the gap.
    after_ms: i64,
    /// Usual time from sample to sample in milliseconds, their median.
    interval_ms: i64,
    count: u64,
}

impl Gap {
    /// Returns the longest gap of a log with times; `None` if samples come regularly.
    pub(super) fn longest(log: &HostLog) -> Option<Self> {
        if log.clock == Clock::Samples || log.times_ms.len() < 8 {
            return None;
        }
        let intervals = || log.times_ms.windows(2).map(|pair| pair[1] - pair[0]);
        let mut sorted: Vec<i64> = intervals().collect();
        let middle = sorted.len() / 2;
        let interval_ms = *sorted.select_nth_unstable(middle).1;
        let least_ms = LEAST_MS.max(interval_ms.saturating_mul(LEAST_INTERVALS));
        let (before, length_ms) = intervals().enumerate().max_by_key(|(_, length_ms)| *length_ms)?;
        let count = intervals().filter(|length_ms| *length_ms >= least_ms).count() as u64;
        let after_ms = log.times_ms[before] - log.times_ms[0];
        (length_ms >= least_ms).then_some(Self { length_ms, after_ms, interval_ms, count })
    }
}
