//! Formats the answer of `snapscope source` for the terminal.

use std::fmt::Write as _;

use shared::base::Moment;
use shared::base::format::{bytes, count, counted};
use shared::report::{FileLine, LineTotals, SourceFile, SourceReport};
use shared::source::{Piece, SourceText, excerpt};

use super::sources::Found;
use crate::commands::text;
use crate::snapshot_file::Opened;

/// Lines that are shown on both sides of a line with much memory.
const CONTEXT: u64 = 3;

const OF_RANGE: &str = ", the peak of the range";

/// Formats the lines with the most memory as a table.
pub(super) fn table(opened: &Opened, report: &SourceReport) -> String {
    let mut rows = vec![columns(["function", "place"])];
    let lines = report.ranked();
    rows.extend(lines.map(|(file, line)| {
        let place = format!("{}:{}", file.path, line.line);
        [margin(&line.own, &line.through).to_vec(), vec![line.function.clone(), place]].concat()
    }));
    let mut page = head(opened, report);
    if rows.len() == 1 {
        page += "\nThe stacks of these allocations name no source files.\n";
        return page;
    }
    page.push('\n');
    text::table(&rows, &[0, 1, 2, 3]).iter().for_each(|line| page += &format!("{line}\n"));
    page + &rest(report, "program's code")
}

/// Formats the files with the memory of each line beside it.
pub(super) fn listing(
    opened: &Opened,
    whole: &SourceReport,
    report: &SourceReport,
    found: &[Found],
    is_all: bool,
) -> String {
    let mut page = head(opened, report);
    for file in found {
        let of = |report: &'_ SourceReport| report.files.iter().find(|of| of.path == file.path).cloned();
        let (Some(lines), Some(hot)) = (of(whole), of(report)) else { continue };
        let _ = writeln!(page, "\n{}\n  {}", file.file, sums(&lines));
        file.note().iter().for_each(|note| page += &format!("  {note}\n"));
        match &file.text {
            Ok(text) => page += &quoted(text, &lines, &hot, is_all),
            Err(_) => page += &unquoted(&hot.lines),
        }
    }
    page + &rest(report, "files of this folder")
}

/// Formats the paths that could not be identified in the folder.
pub(super) fn elsewhere(missing: &[(String, String)]) -> String {
    const SHOWN: usize = 5;
    let mut page = String::new();
    for (path, note) in missing.iter().take(SHOWN) {
        let _ = writeln!(page, "{path} is not shown: {note}.");
    }
    if missing.len() > SHOWN {
        let _ = writeln!(page, "{} more are not shown for such a reason.", count((missing.len() - SHOWN) as u64));
    }
    page
}

fn head(opened: &Opened, report: &SourceReport) -> String {
    let SourceReport { device, event, from, to, totals, .. } = report;
    let moment = Moment::of_event_number(*event);
    let live = format!("{} live in {}", bytes(totals.live_bytes), counted(totals.live_count, "allocation"));
    let event = |event: i64| count(u64::try_from(event).unwrap_or(0));
    let last = opened.devices().find(|(of, _)| of.index == *device).map_or(0, |(of, _)| of.events.len() as i64 - 1);
    let (peak, when) = match (*from, *to) {
        (-1, to) if to == last => ("", "in all events".to_owned()),
        (-1, to) => (OF_RANGE, format!("up to event {}", event(to))),
        (from, to) => (OF_RANGE, format!("in events {} to {}", event(from), event(to))),
    };
    let times = counted(totals.allocated_count, "allocation");
    let allocated = format!("{} allocated by {times} {when}", bytes(totals.allocated_bytes));
    format!("{}\n{} · {live} {moment}{peak} · {allocated}\n", opened.file, opened.device_name(*device))
}

fn columns<const N: usize>(names: [&str; N]) -> Vec<String> {
    ["live", "through", "allocated", "count"].into_iter().chain(names).map(str::to_owned).collect()
}

/// Formats the sums of a line as cells; those that are 0 are empty.
fn margin(own: &LineTotals, through: &LineTotals) -> [String; 4] {
    let shown = |n: u64, text: fn(u64) -> String| if n == 0 { String::new() } else { text(n) };
    let times = |n: u64| format!("{}×", count(n));
    [
        shown(own.live_bytes, bytes),
        shown(through.live_bytes, bytes),
        shown(own.allocated_bytes, bytes),
        shown(own.allocated_count, times),
    ]
}

fn sums(file: &SourceFile) -> String {
    let SourceFile { path, own, through, .. } = file;
    let live = bytes(own.live_bytes);
    format!("{live} live from its lines, {} with what they call · {path}", bytes(through.live_bytes))
}

/// Formats the lines around those with the most memory, or all lines.
fn quoted(text: &SourceText, file: &SourceFile, hot: &SourceFile, is_all: bool) -> String {
    let hot: Vec<u64> = hot.lines.iter().map(|line| line.line).collect();
    let pieces = if is_all { vec![Piece::Lines(1..text.len() + 1)] } else { excerpt(&hot, text.len(), CONTEXT) };
    let width = text.len().to_string().len();
    let mut rows = vec![columns(["line", ""])];
    for piece in pieces {
        match piece {
            Piece::Lines(numbers) => rows.extend(numbers.map(|number| {
                let of = file.lines.binary_search_by_key(&number, |line| line.line).ok().map(|at| &file.lines[at]);
                let margin = of.map_or_else(Default::default, |line| margin(&line.own, &line.through));
                let code = text.line(number).unwrap_or_default().to_owned();
                [margin.to_vec(), vec![format!("{number:>width$}"), code]].concat()
            })),
            Piece::Folded(lines) => {
                let mut row = vec![String::new(); 4];
                row.extend(["…".to_owned(), counted(lines.end - lines.start, "line")]);
                rows.push(row);
            }
        }
    }
    text::table(&rows, &[0, 1, 2, 3, 4]).into_iter().map(|line| line + "\n").collect()
}

fn unquoted(lines: &[FileLine]) -> String {
    let mut rows = vec![columns(["line", "function"])];
    rows.extend(lines.iter().map(|FileLine { line, function, own, through }| {
        [margin(own, through).to_vec(), vec![line.to_string(), function.clone()]].concat()
    }));
    text::table(&rows, &[0, 1, 2, 3, 4]).into_iter().map(|line| line + "\n").collect()
}

/// Formats what the columns mean and what the lines do not include.
fn rest(report: &SourceReport, of: &str) -> String {
    let mut page = String::new();
    if report.other_lines > 0 {
        let _ = writeln!(page, "\n{} with less memory; --top shows more", counted(report.other_lines, "more line"));
    } else {
        page.push('\n');
    }
    let _ = writeln!(page, "live: bytes of the stacks whose innermost line in the {of} it is");
    let _ = writeln!(page, "through: live bytes of all stacks with the line");
    let _ = writeln!(page, "allocated, count: as live, for all that was allocated, whether it is live or not");
    if report.unowned.live_bytes > 0 {
        let _ = writeln!(page, "{} live from stacks without a line in the {of}", bytes(report.unowned.live_bytes));
    }
    page
}
