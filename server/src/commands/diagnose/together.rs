//! Reads files together: snapshots with traces of torch.profiler and logs of the same run, and snapshots of tracemalloc.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use logs::host::HostLog;
use logs::torch_profiler::{Makers, is_profile};
use logs::tracemalloc::TracemallocSnapshot;
use logs::{CardShares, CardSnapshot, Document, Log, OperatorsAtPeak, card_shares, operators_at_peak};
use shared::api::{DiagnoseReport, OfFile};
use shared::base::{Diagnostic, Severity};

use super::log;
use crate::commands::named::Named;
use crate::commands::text::{indented, lines};
use crate::snapshot_file::Opened;

/// Files that were given together.
#[derive(Default)]
pub(super) struct Together {
    /// False if no file is a trace, so that snapshots need not be kept.
    has_traces: bool,
    snapshots: Vec<Opened>,
    traces: Vec<(String, Makers)>,
    /// Snapshots of tracemalloc, with the names of their files.
    pub(super) traced: Vec<(String, Box<TracemallocSnapshot>)>,
    /// What PyTorch reserved on each GPU of each snapshot.
    cards: Vec<CardSnapshot>,
    /// Logs that say something about GPUs, with the names of their files.
    logs: Vec<(String, Log)>,
}

impl Together {
    pub(super) fn new(files: &[Named]) -> Self {
        let has_traces = files.len() > 1 && files.iter().any(|file| is_trace(&file.path));
        Self { has_traces, ..Self::default() }
    }

    /// Keeps a snapshot that has been diagnosed, or what of it concerns whole GPUs.
    pub(super) fn add_snapshot(&mut self, snapshot: Opened) {
        let cards =
            snapshot.devices().filter_map(|(device, timeline)| CardSnapshot::of(&snapshot.file, device, timeline));
        self.cards.extend(cards);
        if self.has_traces {
            self.snapshots.push(snapshot);
        }
    }

    /// Keeps a log that has been diagnosed, if other files can say more about it.
    pub(super) fn add_log(&mut self, name: String, log: Log) {
        match log.document {
            None => self.logs.push((name, Log { host: HostLog::default(), ..log })),
            Some(Document::Profile(trace)) if self.has_traces => {
                self.traces.extend(Makers::of(&trace).map(|makers| (name, makers)));
            }
            Some(Document::Tracemalloc(snapshot)) => self.traced.push((name, snapshot)),
            _ => {}
        }
    }

    /// Matches each snapshot with each trace, and all snapshots with the logs of their GPUs; returns the text.
    pub(super) fn join(&self, report: &mut DiagnoseReport) -> String {
        let mut text = String::new();
        for snapshot in &self.snapshots {
            for (name, makers) in &self.traces {
                let files = format!("{} and {name}", snapshot.file);
                let reports =
                    snapshot.devices().filter_map(|(device, timeline)| operators_at_peak(device, timeline, makers));
                for (position, OperatorsAtPeak { matched, table }) in reports.enumerate() {
                    text += &head(&files, position, &matched);
                    text.extend(table.as_ref().map(log::table));
                    let code = if table.is_some() { "trace-matched" } else { "trace-not-matched" };
                    report.diagnostics.push(info(&files, code, matched));
                    report.tables.extend(table.map(|table| OfFile::new(&files, table)));
                }
            }
        }
        let (cards, logs) = (&self.cards, &self.logs);
        let names = cards.iter().map(|card| card.name.as_str()).chain(logs.iter().map(|(name, _)| name.as_str()));
        let mut names: Vec<&str> = names.collect();
        names.dedup();
        let files = names.join(", ");
        for (position, CardShares { text: shares, owners }) in card_shares(cards, logs).into_iter().enumerate() {
            text += &head(&files, position, &shares);
            text.extend(owners.as_ref().map(log::owners));
            let code = if owners.is_some() { "card-shared" } else { "card-not-shared" };
            report.diagnostics.push(info(&files, code, shares));
            report.owners.extend(owners.map(|owners| OfFile::new(&files, owners)));
        }
        text
    }
}

/// Formats a paragraph on files, which the first one names.
fn head(files: &str, position: usize, paragraph: &str) -> String {
    let files = if position == 0 { format!("\n{files}\n") } else { String::new() };
    files + &indented(&lines(paragraph))
}

fn info(files: &str, code: &'static str, message: String) -> OfFile<Diagnostic> {
    OfFile::new(files, Diagnostic { code, severity: Severity::Info, count: 1, message, offset: None })
}

/// Returns true if a file is a trace of torch.profiler.
fn is_trace(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut head));
    path.is_file() && read.is_ok() && is_profile(&head)
}
