//! Builds the answer about which lines of source files allocate.

use crate::analysis::{self, CodeFile, CodeKind, CodeLine, LineTotals, Population, SourceConfig, source_lines};
use crate::base::{Moment, ShortSort};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Memory of a device by the lines of source files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    pub device: i64,
    /// Event after which memory is live, -1 for the initial state; in a range, that of its peak.
    pub event: i64,
    /// First event whose allocations are counted, -1 if they are counted from the initial state on.
    pub from: i64,
    pub to: i64,
    pub totals: LineTotals,
    /// Sums over the allocations that no line owns, because no frame is in a file of interest.
    pub unowned: LineTotals,
    /// Files whose lines are in stacks of these allocations: first those that own the most live bytes.
    pub files: Vec<SourceFile>,
    pub other_lines: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path as stacks name it, on the machine that wrote the snapshot.
    pub path: String,
    pub kind: CodeKind,
    /// Allocations that a line of the file owns.
    pub own: LineTotals,
    /// Allocations with a frame in the file.
    pub through: LineTotals,
    pub lines: Vec<FileLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLine {
    /// Line number from 1.
    pub line: u64,
    pub function: String,
    /// Allocations whose innermost line in the files of interest this is.
    pub own: LineTotals,
    /// Allocations with a frame on the line; each counts once, also if the line calls itself.
    pub through: LineTotals,
}

pub fn source_report(population: &Population<'_>, config: &SourceConfig) -> SourceReport {
    let analysis::SourceLines { totals, unowned, files } = source_lines(population, config);
    SourceReport {
        device: population.device.index,
        event: Moment(config.moment).event_number(),
        from: i64::from(config.window.start) - 1,
        to: i64::from(config.window.end) - 2,
        totals,
        unowned,
        files: files.into_iter().map(|file| source_file(population.trace, file)).collect(),
        other_lines: 0,
    }
}

fn source_file(trace: &Trace, file: CodeFile) -> SourceFile {
    let CodeFile { name, kind, own, through, lines } = file;
    let text = |id| trace.strings.get(id).to_owned();
    let line = |CodeLine { line, function, own, through }| FileLine { line, function: text(function), own, through };
    SourceFile { path: text(name), kind, own, through, lines: lines.into_iter().map(line).collect() }
}

impl SourceReport {
    /// Leaves out all but the `top` lines that own or pass on the most, and files without such a line.
    #[must_use]
    pub fn top(mut self, top: usize) -> Self {
        let rank = |line: &FileLine| Reverse((line.own, line.through));
        let all = self.files.iter().flat_map(|file| &file.lines);
        let mut ranks: Vec<_> = all.map(rank).collect();
        let lines = ranks.len();
        ranks.sort_unstable();
        let last = top.checked_sub(1).and_then(|last| ranks.get(last.min(lines.saturating_sub(1)))).copied();
        let better = last.map_or(0, |last| ranks.partition_point(|&rank| rank < last));
        // Lines that are equal to the last one fill the rest in their order.
        let mut equal = top.min(lines) - better;
        for file in &mut self.files {
            file.lines.retain(|line| match last {
                None => false,
                Some(last) if rank(line) == last && equal > 0 => {
                    equal -= 1;
                    true
                }
                Some(last) => rank(line) < last,
            });
        }
        self.files.retain(|file| !file.lines.is_empty());
        self.other_lines += (lines - top.min(lines)) as u64;
        self
    }

    /// Iterates over the lines with their files: first those that own or pass on the most.
    pub fn ranked(&self) -> impl Iterator<Item = (&SourceFile, &FileLine)> {
        let lines = self.files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
        let mut lines: Vec<_> = lines.collect();
        lines.short_sort_by_key(|(_, line)| Reverse((line.own, line.through)));
        lines.into_iter()
    }
}
