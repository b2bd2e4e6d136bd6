//! Reads files together: snapshots with traces of torch.profiler and logs of the same run, and snapshots of tracemalloc.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use logs::host::HostLog;
use logs::torch_profiler::{Makers, is_profile};
use logs::tracemalloc::TracemallocSnapshot;
use logs::{CardShares, CardSnapshot, Document, Log, OperatorsAtPeak, card_shares, operators_at_peak};
use shared::api::OfFile;
use shared::base::{Diagnostic, Severity};
use shared::report::{LogOwners, LogTable};

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
    traced: Vec<(String, Box<TracemallocSnapshot>)>,
    /// What PyTorch reserved on each GPU of each snapshot.
    cards: Vec<CardSnapshot>,
    /// Logs that say something about GPUs, with the names of their files.
    logs: Vec<(String, Log)>,
}

/// What the files say together.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// Text for the terminal.
    pub(super) text: String,
    pub(super) matched: Vec<OfFile<Diagnostic>>,
    pub(super) tables: Vec<OfFile<LogTable>>,
    pub(super) owners: Vec<OfFile<LogOwners>>,
}

impl Together {
    /// Prepares for these files.
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
    pub(super) fn add_log(&mut self, name: &str, log: Log) {
        match log.document {
            None => self.logs.push((name.to_owned(), Log { host: HostLog::default(), ..log })),
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

    /// Matches each snapshot with each trace, and all snapshots with the logs of their GPUs.
    pub(super) fn joined(&self) -> Joined {
        let mut joined = Joined::default();
        for snapshot in &self.snapshots {
            for (name, makers) in &self.traces {
                let reports =
                    snapshot.devices().filter_map(|(device, timeline)| operators_at_peak(device, timeline, makers));
                joined.add(&format!("{} and {name}", snapshot.file), reports.collect());
            }
        }
        joined.share(&self.cards, &self.logs);
        joined
    }
}

/// Returns true if a file is a trace of torch.profiler.
fn is_trace(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut head));
    path.is_file() && read.is_ok() && is_profile(&head)
}

impl Joined {
    /// Divides GPUs among snapshots and logs.
    fn share(&mut self, cards: &[CardSnapshot], logs: &[(String, Log)]) {
        let names = cards.iter().map(|card| card.name.as_str()).chain(logs.iter().map(|(name, _)| name.as_str()));
        let mut names: Vec<&str> = names.collect();
        names.dedup();
        let files = names.join(", ");
        for (position, CardShares { text, owners }) in card_shares(cards, logs).into_iter().enumerate() {
            if position == 0 {
                let _ = writeln!(self.text, "\n{files}");
            }
            self.text += &indented(&lines(&text));
            self.text.extend(owners.as_ref().map(log::owners));
            let code = if owners.is_some() { "card-shared" } else { "card-not-shared" };
            let diagnostic = Diagnostic { code, severity: Severity::Info, count: 1, message: text, offset: None };
            self.matched.push(OfFile::new(&files, diagnostic));
            self.owners.extend(owners.map(|owners| OfFile::new(&files, owners)));
        }
    }

    fn add(&mut self, files: &str, reports: Vec<OperatorsAtPeak>) {
        if reports.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n{files}");
        for OperatorsAtPeak { matched, table } in reports {
            self.text += &indented(&lines(&matched));
            self.text.extend(table.as_ref().map(log::table));
            let code = if table.is_some() { "trace-matched" } else { "trace-not-matched" };
            let diagnostic = Diagnostic { code, severity: Severity::Info, count: 1, message: matched, offset: None };
            self.matched.push(OfFile::new(files, diagnostic));
            self.tables.extend(table.map(|table| OfFile::new(files, table)));
        }
    }
}
