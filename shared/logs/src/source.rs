//! Defines what a source of logs is: a reader, and what it says about memory.

use shared::analysis::FindingCode;
use shared::base::{Severity, ShortSort, Sink};
use shared::report::{Diagnosis, Finding, LogCell, LogCurves, LogNotice, LogOwners, LogReport, LogTable};
use std::cmp::Reverse;
use std::str::FromStr;

const MOST_OWNERS: usize = 8;

const MOST_ROWS: usize = 200;

pub(super) trait Source {
    /// Returns true if it says nothing about memory.
    fn is_empty(&self) -> bool {
        false
    }

    /// Returns what the report says about it.
    fn part(&self) -> LogPart;
}

/// Reader of one source's lines, which stand among any others.
pub(super) trait LineReader {
    type Log: Source;

    /// Reads the next line; returns true if it is one of this source.
    fn line(&mut self, line: &str) -> bool;

    /// Returns what the lines say.
    fn finish(self) -> Self::Log;
}

/// Reader of a file that one tool wrote as a whole; it receives what gzip unpacks.
pub(super) trait FileReader: Sink + Default {
    type Log: Source;

    /// Returns the reader if a file with this beginning, packed or not, is one of this source.
    fn begin(head: &[u8]) -> Option<Self>;

    /// Returns what the file says.
    fn finish(self) -> Self::Log;
}

/// What a report says about one kind of content of a log.
#[derive(Debug, Default)]
pub(super) struct LogPart {
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) curves: Vec<LogCurves>,
    pub(super) owners: Vec<LogOwners>,
    pub(super) findings: Vec<Finding>,
    pub(super) tables: Vec<LogTable>,
    pub(super) notices: Vec<LogNotice>,
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
    findings.short_sort_by_key(|finding: &Finding| Reverse(finding.severity));
    report.diagnosis = Diagnosis { findings, ..Diagnosis::default() };
    report.owners.truncate(MOST_OWNERS);
    for table in &mut report.tables {
        table.left_out = table.rows.len().saturating_sub(MOST_ROWS) as u64;
        table.rows.truncate(MOST_ROWS);
    }
    report
}

/// Returns a finding that states with certainty what a log has.
pub(super) fn finding(
    code: FindingCode,
    device: i64,
    severity: Severity,
    bytes: u64,
    title: impl Into<String>,
    shows: impl Into<String>,
    advice: impl Into<String>,
) -> Finding {
    Finding { severity, ..Finding::stated(code, device, bytes, title.into(), shows.into(), advice.into()) }
}

/// Returns the cell of a size that may be unknown.
pub(super) fn bytes_cell(bytes: Option<u64>) -> LogCell {
    bytes.map_or(LogCell::Nothing, LogCell::Bytes)
}

/// Returns the cell of a number that may be unknown.
pub(super) fn count_cell(count: Option<u64>) -> LogCell {
    count.map_or(LogCell::Nothing, LogCell::Count)
}

/// Returns the number of digits alone with which a text begins.
pub(super) fn leading_number<T: FromStr>(text: &str) -> Option<T> {
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}

/// Returns the number behind the first of these words.
pub(super) fn number_after<T: FromStr>(text: &str, words: &str) -> Option<T> {
    leading_number(text.split_once(words)?.1)
}

/// Reads all lines of a text.
#[cfg(test)]
pub(super) fn read_lines<R: LineReader + Default>(text: &str) -> R::Log {
    let mut reader = R::default();
    text.lines().for_each(|line| _ = reader.line(line));
    reader.finish()
}

/// Reads a file in chunks of this size.
#[cfg(test)]
pub(super) fn read_file<R: FileReader>(bytes: &[u8], size: usize) -> R::Log {
    let reader = R::begin(&bytes[..bytes.len().min(4096)]).unwrap_or_default();
    let mut unpacker = shared::base::Unpacker::new(bytes, reader);
    bytes.chunks(size.max(1)).for_each(|chunk| unpacker.push(chunk));
    unpacker.finish().finish()
}
