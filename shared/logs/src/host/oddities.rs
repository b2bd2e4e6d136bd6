//! Counts what is odd in a log of host memory, and says it.

use super::reader::Gap;
use super::usage::Unit;
use shared::base::{Diagnostic, Severity, format};

/// What was odd in a log.
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
    /// Longest time without samples.
    pub(super) gap: Option<Gap>,
    /// Largest RSS of a table without units, if it is too small for bytes.
    pub(super) too_small: Option<u64>,
}

impl Oddities {
    /// Counts a line that is not understood.
    pub(super) fn unread(&mut self, line: &str) {
        self.unread += 1;
        if self.first_unread.is_empty() {
            self.first_unread = line.trim().chars().take(80).collect();
        }
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
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
        if let Some(Gap { length_ms, after_ms, interval_ms, count }) = self.gap {
            let duration = |ms: i64| format::duration(ms.unsigned_abs().saturating_mul(1000));
            let message = format!(
                "{} without samples begins {} after the start, where samples usually come every {}: the machine slept, its \
                 clock was set forward, or a part of the log is missing. Rates count that time.",
                duration(length_ms),
                duration(after_ms),
                duration(interval_ms)
            );
            all.push(one("host-log-gap", Severity::Info, count, message));
        }
        if self.reused > 0 {
            let message = "A process id was used again by another process; the two are kept apart.";
            all.push(one("host-process-id-reused", Severity::Info, self.reused, message.to_owned()));
        }
        if self.unnamed > 0 {
            let message = "Nothing in the log names these processes: those with the same addresses count as one. Print the \
                           names of the files, as tail -n +1 /proc/[0-9]*/smaps_rollup does.";
            all.push(one("host-process-unnamed", Severity::Warning, self.unnamed, message.to_owned()));
        }
        if self.is_wandb {
            let message = "Weights & Biases samples the process that calls wandb.init, without the workers that it starts \
                           unless x_stats_track_process_tree is set.";
            all.push(one("host-workers-missing", Severity::Info, 1, message.to_owned()));
        }
        if let Some(name) = &self.decimal {
            let message =
                format!("Sizes in column {name} are taken as powers of 1024, as most scripts calculate them.");
            all.push(one("host-unit-decimal", Severity::Info, 1, message));
        }
        if let Some(unit) = self.unit.filter(|unit| unit.is_assumed) {
            let (name, option) = if unit.bytes == 1 << 20 { ("MiB", "-m") } else { ("GiB", "-g") };
            let message = format!(
                "The figures of the machine's memory have no unit: they were read as {name}, as those of free {option}."
            );
            all.push(one("host-unit-assumed", Severity::Warning, 1, message));
        }
        if let Some(bytes) = self.too_small {
            let message = format!(
                "The table names no unit, so that its sizes were read as bytes: then no process has more than {}. Name \
                 the column rss_kb, rss_mb or rss_gb if it counts those.",
                format::bytes(bytes)
            );
            all.push(one("host-unit-unlikely", Severity::Warning, 1, message));
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
