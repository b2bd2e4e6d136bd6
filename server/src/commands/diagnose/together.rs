//! Reads files together: snapshots with traces of torch.profiler of the same run, and snapshots of tracemalloc.

use std::fmt::Write as _;
use std::path::PathBuf;

use shared::api::OfFile;
use shared::base::{Diagnostic, Severity};
use shared::log::{Document, Log};
use shared::profile::Makers;
use shared::report::{LogTable, OperatorsAtPeak, operators_at_peak};
use shared::tracemalloc::TracemallocSnapshot;

use super::{lines, log};
use crate::log_file;
use crate::snapshot_file::Opened;

/// Files that were given together.
#[derive(Default)]
pub(super) struct Together {
    /// False if no file is a trace, so that snapshots need not be kept.
    has_traces: bool,
    snapshots: Vec<Opened>,
    traces: Vec<(String, Makers)>,
    /// Snapshots of tracemalloc, with the names of their files.
    traced: Vec<(String, Box<TracemallocSnapshot>)>,
}

/// What snapshots and traces say together.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// Text for the terminal.
    pub(super) text: String,
    pub(super) matched: Vec<OfFile<Diagnostic>>,
    pub(super) tables: Vec<OfFile<LogTable>>,
}

impl Together {
    /// Prepares for these files.
    pub(super) fn new(files: &[PathBuf]) -> Self {
        let has_traces = files.len() > 1 && files.iter().any(|file| log_file::is_trace(file));
        Self { has_traces, ..Self::default() }
    }

    /// Keeps a snapshot that has been diagnosed.
    pub(super) fn add_snapshot(&mut self, snapshot: Opened) {
        if self.has_traces {
            self.snapshots.push(snapshot);
        }
    }

    /// Keeps a log that has been diagnosed, if it is a trace or a snapshot of tracemalloc.
    pub(super) fn add_log(&mut self, name: &str, log: Log) {
        match log.document {
            Some(Document::Profile(trace)) if self.has_traces => {
                self.traces.extend(Makers::of(&trace).map(|makers| (name.to_owned(), makers)));
            }
            Some(Document::Tracemalloc(snapshot)) => self.traced.push((name.to_owned(), snapshot)),
            _ => {}
        }
    }

    /// Returns the snapshots of tracemalloc in their order.
    pub(super) fn traced(&self) -> &[(String, Box<TracemallocSnapshot>)] {
        &self.traced
    }

    /// Matches each snapshot with each trace.
    pub(super) fn joined(&self) -> Joined {
        let mut joined = Joined::default();
        for snapshot in &self.snapshots {
            for (name, makers) in &self.traces {
                let reports =
                    snapshot.devices().filter_map(|(device, timeline)| operators_at_peak(device, timeline, makers));
                joined.add(&format!("{} and {name}", snapshot.file), reports.collect());
            }
        }
        joined
    }
}

impl Joined {
    fn add(&mut self, files: &str, reports: Vec<OperatorsAtPeak>) {
        if reports.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n{files}");
        for OperatorsAtPeak { matched, table } in reports {
            lines(&matched).iter().for_each(|line| {
                let _ = writeln!(self.text, "  {line}");
            });
            self.text += &log::tables(table.as_slice());
            let code = if table.is_some() { "trace-matched" } else { "trace-not-matched" };
            let diagnostic = Diagnostic { code, severity: Severity::Info, count: 1, message: matched, offset: None };
            self.matched.push(OfFile::new(files, diagnostic));
            self.tables.extend(table.map(|table| OfFile::new(files, table)));
        }
    }
}
