//! Builds the report on a log: what it is, curves of memory over time, findings and tables.

use crate::logs::part::LogPart;
use crate::logs::{Document, Log};
use crate::logs::{engine, host, memray, nccl, nvidia_smi, pprof, printed, torch_profiler, tracemalloc};
use crate::report::{Diagnosis, Finding, LogReport};
use std::cmp::Reverse;

/// Largest number of bars of owners.
const MOST_OWNERS: usize = 8;

/// Largest number of rows of a table.
const MOST_ROWS: usize = 200;

/// Reports on a log.
pub fn log_report(log: &Log) -> LogReport {
    let host = log.has_host().then(|| host::part(&log.host));
    let cards = (!log.cards.is_empty()).then(|| nvidia_smi::part(&log.cards));
    let nccl = (!log.nccl.is_empty()).then(|| nccl::part(&log.nccl));
    let engine = (!log.engine.is_empty()).then(|| engine::part(&log.engine));
    let printed = (!log.printed.is_empty()).then(|| printed::part(&log.printed));
    let document = log.document.as_ref().map(|document| match document {
        Document::Profile(profile) => torch_profiler::part(profile),
        Document::Memray(file) => memray::part(file),
        Document::Heap(profile) => pprof::part(profile),
        Document::Tracemalloc(snapshot) => tracemalloc::part(snapshot),
        Document::Timeline(timeline) => torch_profiler::timeline_part(timeline),
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
