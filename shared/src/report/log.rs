//! Builds the report on a log: what it is, curves of memory over time, findings and tables.

use super::diagnosis::{Diagnosis, Finding};
use super::log_curves::LogCurves;
use super::log_part::LogPart;
use super::log_table::{LogNotice, LogOwners, LogTable};
use super::{card, engine, heap, host, memray, nccl, printed, profile, timeline, tracemalloc};
use crate::log::{Document, Log};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Report on a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Kind of the log, and how much it has, such as `Host memory, ps: 250 samples of 8 processes in 2 h 5 min`.
    pub title: String,
    /// Facts that belong to the title, such as the memory of the machine.
    pub facts: Vec<String>,
    /// Curves of the whole log, one chart each.
    pub curves: Vec<LogCurves>,
    /// Memory of a GPU by owner, for each of the first out-of-memory errors, and at the end of a log of nvidia-smi.
    pub owners: Vec<LogOwners>,
    pub diagnosis: Diagnosis,
    pub tables: Vec<LogTable>,
    /// What was odd or left out.
    pub notices: Vec<LogNotice>,
}

/// Largest number of bars of owners.
const MOST_OWNERS: usize = 8;

/// Largest number of rows of a table.
const MOST_ROWS: usize = 200;

/// Reports on a log.
pub fn log_report(log: &Log) -> LogReport {
    let host = log.has_host().then(|| host::part(&log.host));
    let cards = (!log.cards.is_empty()).then(|| card::part(&log.cards));
    let nccl = (!log.nccl.is_empty()).then(|| nccl::part(&log.nccl));
    let engine = (!log.engine.is_empty()).then(|| engine::part(&log.engine));
    let printed = (!log.printed.is_empty()).then(|| printed::part(&log.printed));
    let document = log.document.as_ref().map(|document| match document {
        Document::Profile(profile) => profile::part(profile),
        Document::Memray(file) => memray::part(file),
        Document::Heap(profile) => heap::part(profile),
        Document::Tracemalloc(snapshot) => tracemalloc::part(snapshot),
        Document::Timeline(timeline) => timeline::part(timeline),
    });
    joined([host, cards, nccl, engine, printed, document].into_iter().flatten())
}

/// Joins parts in their order, and their findings by severity.
pub(super) fn joined(parts: impl Iterator<Item = LogPart>) -> LogReport {
    let mut report = LogReport::default();
    let mut findings = Vec::new();
    for part in parts {
        let separator = if report.title.is_empty() { "" } else { ". " };
        report.title += &(separator.to_owned() + &part.title);
        report.facts.extend(part.facts);
        report.curves.extend(part.curves);
        report.owners.extend(part.owners);
        report.tables.extend(part.tables);
        report.notices.extend(part.notices);
        findings.extend(part.findings);
    }
    findings.sort_by_key(|finding: &Finding| Reverse(finding.severity));
    report.diagnosis = Diagnosis { findings, ..Diagnosis::default() };
    report.owners.truncate(MOST_OWNERS);
    for table in &mut report.tables {
        table.left_out = table.rows.len().saturating_sub(MOST_ROWS) as u64;
        table.rows.truncate(MOST_ROWS);
    }
    report
}

impl LogReport {
    /// Returns true if the log says nothing about memory.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.diagnosis.findings.is_empty() && self.tables.is_empty()
    }
}
