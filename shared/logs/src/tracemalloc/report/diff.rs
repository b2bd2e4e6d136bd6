//! Compares two snapshots of tracemalloc, and reports on several of one program: the lines that grow.

use super::{MORE_FRAMES, MOST_NAMED, caller, finding, has_callers, held, label, stacks_of};
use crate::source::{LogPart, joined};
use crate::tracemalloc::{
    Grouping, LineChange, Place, SteadyGrowth, Total, TracemallocSnapshot, changes, steady_growth,
};
use serde::Serialize;
use shared::analysis::{Confidence, FindingCode};
use shared::base::{Severity, format};
use shared::report::{ComparedChange, Finding, LogCell, LogNotice, LogReport, LogTable};

/// Difference of what snapshot `b` of tracemalloc holds from what `a` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedComparison {
    pub a: TracedSide,
    pub b: TracedSide,
    /// Bytes of `b` minus those of `a`, which is the sum of the deltas of all lines.
    pub delta_bytes: i64,
    /// Blocks of `b` minus those of `a`.
    pub delta_count: i64,
    /// Lines that differ, the largest difference first.
    pub lines: Vec<ComparedPlace>,
    /// Number of differing lines that are left out.
    pub other_lines: u64,
    /// Sum of their deltas.
    pub other_delta_bytes: i64,
    /// All files that differ; their line is 0.
    pub files: Vec<ComparedPlace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedSide {
    /// File as named on the command line.
    pub file: String,
    pub bytes: u64,
    pub blocks: u64,
    /// Number of frames after which stacks are cut.
    pub traceback_limit: u64,
}

/// Line or file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedPlace {
    pub filename: String,
    pub line: u32,
    #[serde(flatten)]
    pub change: ComparedChange,
}

/// Builds the comparison with at most `top` lines; each side is a file with its snapshot.
pub fn traced_comparison(
    a: (&str, &TracemallocSnapshot),
    b: (&str, &TracemallocSnapshot),
    top: usize,
) -> TracedComparison {
    let compared = |grouping: Grouping| -> Vec<ComparedPlace> {
        let changes = changes(a.1, b.1, grouping).into_iter().filter(|change| change.before != change.after);
        changes.map(|change| place(&change)).collect()
    };
    let (mut lines, files) = (compared(Grouping::Line), compared(Grouping::File));
    let others = lines.split_off(top.min(lines.len()));
    let [a, b] = [a, b].map(|(file, snapshot)| {
        let Total { bytes, blocks } = snapshot.total();
        TracedSide { file: file.to_owned(), bytes, blocks, traceback_limit: snapshot.traceback_limit }
    });
    TracedComparison {
        delta_bytes: b.bytes.wrapping_sub(a.bytes) as i64,
        delta_count: b.blocks.wrapping_sub(a.blocks) as i64,
        lines,
        other_lines: others.len() as u64,
        other_delta_bytes: others.iter().map(|line| line.change.delta_bytes).fold(0, i64::saturating_add),
        files,
        a,
        b,
    }
}

fn place(change: &LineChange<'_>) -> ComparedPlace {
    ComparedPlace {
        filename: change.place.file.to_owned(),
        line: change.place.line,
        change: ComparedChange {
            a_bytes: change.before.bytes,
            b_bytes: change.after.bytes,
            delta_bytes: change.bytes(),
            a_count: change.before.blocks,
            b_count: change.after.blocks,
            delta_count: change.blocks(),
        },
    }
}

/// Largest number of lines with a finding of their own.
const MOST_FINDINGS: usize = 5;

/// Largest number of figures that a sentence lists.
const MOST_LISTED: usize = 8;

/// Reports on snapshots in the order in which they were taken; `None` with fewer than two.
pub fn traced_growth(snapshots: &[&TracemallocSnapshot]) -> Option<LogReport> {
    let &[first, .., last] = snapshots else { return None };
    let changes: Vec<LineChange<'_>> =
        changes(first, last, Grouping::Line).into_iter().filter(|change| change.before != change.after).collect();
    let growing = steady_growth(snapshots);
    let findings = match snapshots.len() {
        2 => vec![pair(first, last, &changes)],
        _ => growing.iter().take(MOST_FINDINGS).map(|line| grows(last, line)).collect(),
    };
    let part = LogPart {
        title: title(snapshots),
        findings,
        tables: vec![table(last, &changes)],
        notices: notices(snapshots, &growing),
        ..LogPart::default()
    };
    Some(joined([part].into_iter()))
}

fn title(snapshots: &[&TracemallocSnapshot]) -> String {
    let totals = snapshots.iter().map(|snapshot| format::bytes(snapshot.total().bytes));
    format!("{} snapshots of tracemalloc in their order: {}", snapshots.len(), listed(totals.collect()))
}

/// Joins figures, without those in the middle if there are many.
fn listed(mut figures: Vec<String>) -> String {
    if figures.len() > MOST_LISTED {
        let left_out = figures.len() - MOST_LISTED + 1;
        figures.splice(MOST_LISTED / 2..MOST_LISTED / 2 + left_out, ["…".to_owned()]);
    }
    figures.join(", ")
}

fn grows(last: &TracemallocSnapshot, line: &SteadyGrowth<'_>) -> Finding {
    let (bytes, blocks) = (line.bytes_per_snapshot(), line.blocks_per_snapshot());
    let title = format!("{} grows by {} per snapshot", label(line.place), format::bytes(bytes));
    let sizes = line.totals.iter().map(|total| format::bytes(total.bytes)).collect();
    let mut shows = format!("What this line allocated holds {} in the snapshots", listed(sizes));
    shows += &match blocks {
        0 => ", in as many blocks as before: they get larger.".to_owned(),
        blocks => format!(": each has {} more on average.", format::counted(blocks, "block")),
    };
    let own = last.own_place(line.stack);
    if let Some(own) = own.filter(|own| *own != line.place) {
        shows += &format!(" Your code calls it in {}.", label(own));
    }
    let needs_callers = own.is_none() && !has_callers(last);
    let more_frames = if needs_callers { format!("\n{MORE_FRAMES}") } else { String::new() };
    let advice = format!(
        "Look for what still refers to these objects: a list or dict that is appended to and never cleared, a cache \
         without a limit (`functools.lru_cache(maxsize=None)`), or objects kept by callbacks and closures.\n\
         Take a later snapshot to see whether the growth ends: a cache that fills looks the same until it is \
         full.{more_frames}"
    );
    let mut found = finding((FindingCode::HostLineGrows, Severity::Warning, bytes), line.place, title, shows, &advice);
    found.confidence = Confidence::Medium;
    found.evidence.stacks = stacks_of(last, line.stack);
    found
}

/// Reports the difference of two snapshots, which cannot tell growth from a cache that fills once.
fn pair(first: &TracemallocSnapshot, last: &TracemallocSnapshot, changes: &[LineChange<'_>]) -> Finding {
    let (before, after) = (first.total().bytes, last.total().bytes);
    let title = match after.checked_sub(before) {
        Some(0) => "Both snapshots hold the same number of bytes".to_owned(),
        Some(more) => format!("The second snapshot holds {} more than the first", format::bytes(more)),
        None => format!("The second snapshot holds {} less than the first", format::bytes(before - after)),
    };
    let is_risen = |change: &&LineChange<'_>| change.bytes() > 0 && !change.place.is_of_tracemalloc();
    let risen: Vec<&LineChange<'_>> = changes.iter().filter(is_risen).take(MOST_NAMED).collect();
    let named: Vec<String> = { risen.iter() }
        .map(|change| format!("{} (+{})", label(change.place), format::bytes(change.bytes().unsigned_abs())))
        .collect();
    let shows = match named.as_slice() {
        [] => "No line holds more.".to_owned(),
        [one] => format!("The line that grew most is {one}."),
        named => format!("The lines that grew most are {}.", named.join(", ")),
    };
    let advice = "Dump a third snapshot and open all of them in their order: a line that grows through all of them is no \
                  cache that fills once.";
    let place = risen.first().map_or_else(Place::default, |change| change.place);
    finding((FindingCode::HostMemoryByLine, Severity::Info, after.abs_diff(before)), place, title, shows, advice)
}

/// Lists what changed from the first to the last snapshot, as `compare_to` does.
fn table(last: &TracemallocSnapshot, changes: &[LineChange<'_>]) -> LogTable {
    let row = |change: &LineChange<'_>| {
        let figures = [
            LogCell::Text(label(change.place)),
            LogCell::Text(format::signed(change.bytes(), format::bytes)),
            LogCell::Text(format::signed(change.blocks(), format::count)),
            LogCell::Bytes(change.before.bytes),
            LogCell::Bytes(change.after.bytes),
        ];
        let caller = has_callers(last).then(|| caller(last, change.place, change.stack));
        figures.into_iter().chain(caller).collect()
    };
    let columns = ["Line that allocated", "Change", "Blocks", "First", "Last"];
    let columns = columns.into_iter().chain(has_callers(last).then_some("Called from"));
    LogTable::new("Change from the first to the last snapshot", columns, changes.iter().map(row))
}

/// Says what the findings leave out.
fn notices(snapshots: &[&TracemallocSnapshot], growing: &[SteadyGrowth<'_>]) -> Vec<LogNotice> {
    let further = growing.get(MOST_FINDINGS..).unwrap_or_default();
    let further_bytes = further.iter().map(SteadyGrowth::bytes_per_snapshot).fold(0, u64::saturating_add);
    let message = match further.len() as u64 {
        _ if snapshots.len() == 2 => None,
        0 if growing.is_empty() => Some("No line grows steadily through all snapshots in this order.".to_owned()),
        0 => None,
        more => {
            let (lines, bytes) = (format::counted(more, "other line"), format::bytes(further_bytes));
            Some(format!("{lines} grow through all snapshots, too, by {bytes} per snapshot together."))
        }
    };
    let own = own_notice(snapshots);
    message.into_iter().chain(own).map(LogNotice::info).collect()
}

/// Says how much memory the snapshots themselves take, which the program keeps.
fn own_notice(snapshots: &[&TracemallocSnapshot]) -> Option<String> {
    let lines = snapshots.last()?.by(Grouping::Line);
    let mut own = Total::default();
    lines.iter().filter(|line| line.place.is_of_tracemalloc()).for_each(|line| own.add(line.total));
    let message = format!(
        "Lines of tracemalloc.py hold {}: they are the snapshots that the program keeps, and no finding.",
        held(own)
    );
    (own.blocks > 0).then_some(message)
}
