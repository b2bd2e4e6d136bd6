//! Reports on a snapshot of tracemalloc: the lines and files that allocated what a Python program holds.

mod diff;

pub use diff::{ComparedPlace, TracedComparison, TracedSide, traced_comparison, traced_growth};

use crate::source::{LogPart, Source};
use crate::tracemalloc::{Flaw, Grouping, Place, Placed, Total, TracemallocSnapshot};
use shared::analysis::{FindingCode, SourceLine};
use shared::base::{Severity, format};
use shared::report::{Finding, Frame, HOST, LogCell, LogNotice, LogTable};

/// Address space in which NumPy counts the data of its arrays (`NPY_TRACE_DOMAIN`).
const NUMPY_DOMAIN: u32 = 389_047;

/// Largest number of lines that a sentence names.
pub(super) const MOST_NAMED: usize = 3;

/// What tracemalloc does not see.
const UNSEEN: &str = "tracemalloc counts what Python's allocators and NumPy hand out; memory that libraries in C++ allocate \
                      themselves, such as PyTorch's tensors on the host, is not in it.";

/// How to see the callers of a library.
pub(super) const MORE_FRAMES: &str =
    "[record] Start with ``tracemalloc.start(25)`` to see which lines of your code call the libraries.";

impl Source for TracemallocSnapshot {
    fn part(&self) -> LogPart {
        LogPart {
            title: title(self),
            facts: facts(self),
            findings: largest(self).into_iter().collect(),
            tables: tables(self),
            notices: notices(self),
            ..LogPart::default()
        }
    }
}

fn title(snapshot: &TracemallocSnapshot) -> String {
    match &snapshot.flaw {
        Some(Flaw::Foreign(_)) => "Pickle that begins as a snapshot of tracemalloc".to_owned(),
        _ => format!("Snapshot of tracemalloc: {}", held(snapshot.total())),
    }
}

/// Formats blocks like `12.3 MiB in 4,567 blocks`.
pub(super) fn held(total: Total) -> String {
    format!("{} in {}", format::bytes(total.bytes), format::counted(total.blocks, "block"))
}

fn facts(snapshot: &TracemallocSnapshot) -> Vec<String> {
    let stacks = match snapshot.traceback_limit {
        0 => None,
        1 => Some("only the innermost line of each stack".to_owned()),
        frames => Some(format!("stacks of up to {}", format::counted(frames, "frame"))),
    };
    let domain = |&(domain, total): &(u32, Total)| match domain {
        NUMPY_DOMAIN => format!("data of NumPy arrays is {}", held(total)),
        _ => format!("address space {domain} has {}", held(total)),
    };
    stacks.into_iter().chain(snapshot.domains.iter().filter(|(domain, _)| *domain != 0).map(domain)).collect()
}

/// Returns the file of a place as far as it tells files apart, and its line.
///
/// Installed packages and the standard library are named from their folder on, other files with their folder.
pub(super) fn label(place: Place<'_>) -> String {
    let path = place.file.replace('\\', "/");
    let of_package = path.rsplit_once("-packages/").map(|(_, rest)| rest);
    let of_python = || path.split_once("/lib/python3").and_then(|(_, rest)| Some(rest.split_once('/')?.1));
    let short = of_package.or_else(of_python).unwrap_or_else(|| with_folder(&path));
    if place.line == 0 { short.to_owned() } else { format!("{short}:{}", place.line) }
}

/// Returns the last two parts of a path.
fn with_folder(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(1).map_or(0, |(slash, _)| slash + 1);
    path[start..].trim_start_matches('/')
}

/// Returns the frames of a stack, innermost first, as evidence; nothing if stacks have no callers.
pub(super) fn stacks_of(snapshot: &TracemallocSnapshot, stack: usize) -> Vec<Vec<Frame>> {
    let frame = |Place { file, line }: Place<'_>| Frame {
        name: String::new(),
        filename: file.to_owned(),
        line: u64::from(line),
        fx: None,
    };
    let frames = has_callers(snapshot).then(|| snapshot.frames(stack).into_iter().map(frame).collect());
    frames.into_iter().collect()
}

pub(super) fn has_callers(snapshot: &TracemallocSnapshot) -> bool {
    snapshot.traceback_limit != 1
}

pub(super) fn finding(
    (code, severity, bytes): (FindingCode, Severity, u64),
    place: Place<'_>,
    title: String,
    shows: String,
    advice: &str,
) -> Finding {
    let line = SourceLine { file: place.file.to_owned(), function: String::new(), line: u64::from(place.line) };
    let stated = Finding::stated(code, HOST, bytes, title, shows, advice.to_owned());
    Finding { severity, line: (place.line > 0).then_some(line), ..stated }
}

/// Reports the lines with the most memory; `None` if there are none.
fn largest(snapshot: &TracemallocSnapshot) -> Option<Finding> {
    let (lines, own) = (snapshot.by(Grouping::Line), own_lines(snapshot));
    let first = *own.first().or_else(|| lines.first())?;
    let (bytes, all) = (format::bytes(first.total.bytes), format::bytes(snapshot.total().bytes));
    let whose = if own.is_empty() { "" } else { " of your code" };
    let title = format!("The line{whose} with the most memory, {bytes} of {all}, is {}", label(first.place));
    let mut shows = Vec::new();
    if !own.is_empty() {
        shows.push(format!("Of your code, {} hold the most.", named(&own)));
    }
    shows.push(format!("Of all lines, {} allocated the most.", named(&lines)));
    if lines.iter().take(MOST_NAMED).any(|line| line.place.is_of_importlib()) {
        shows.push("Lines of importlib hold the code of imported modules.".to_owned());
    }
    let more_frames = if has_callers(snapshot) { String::new() } else { format!("\n{MORE_FRAMES}") };
    let advice = format!(
        "To see what grows, dump snapshots some minutes apart and open all of them in their order: ``snapscope diagnose \
         1.pickle 2.pickle 3.pickle``.{more_frames}\n\n{UNSEEN}"
    );
    let what = (FindingCode::HostMemoryByLine, Severity::Info, first.total.bytes);
    let mut found = finding(what, first.place, title, shows.join(" "), &advice);
    found.evidence.stacks = stacks_of(snapshot, first.stack);
    Some(found)
}

/// Returns the lines of the user's own code, unless all lines are.
fn own_lines(snapshot: &TracemallocSnapshot) -> Vec<Placed<'_>> {
    let own = snapshot.by(Grouping::OwnLine);
    if own == snapshot.by(Grouping::Line) { Vec::new() } else { own }
}

fn named(lines: &[Placed<'_>]) -> String {
    let named = lines.iter().take(MOST_NAMED).map(|line| format!("{} ({})", label(line.place), held(line.total)));
    named.collect::<Vec<_>>().join(", ")
}

fn tables(snapshot: &TracemallocSnapshot) -> Vec<LogTable> {
    let all_bytes = snapshot.total().bytes;
    let table = |sums: Vec<Placed<'_>>, title: &str, column: &str, has_callers: bool| {
        let columns = [column, "Memory", "Share", "Blocks"].into_iter().chain(has_callers.then_some("Called from"));
        let row = |sum: &Placed<'_>| {
            let figures = [
                LogCell::Text(label(sum.place)),
                LogCell::Bytes(sum.total.bytes),
                LogCell::Text(format::percent(sum.total.bytes, all_bytes)),
                LogCell::Count(sum.total.blocks),
            ];
            let caller = has_callers.then(|| caller(snapshot, sum.place, Some(sum.stack)));
            figures.into_iter().chain(caller).collect()
        };
        LogTable::new(title, columns, sums.iter().map(row))
    };
    let own = table(own_lines(snapshot), "Your code", "Line of your code", false);
    let lines = table(snapshot.by(Grouping::Line), "All lines", "Line that allocated", has_callers(snapshot));
    let files = table(snapshot.by(Grouping::File), "Files", "File", false);
    [own, lines, files].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Returns the line of the user's own code that called a line of a library.
pub(super) fn caller(snapshot: &TracemallocSnapshot, place: Place<'_>, stack: Option<usize>) -> LogCell {
    let own = stack.and_then(|stack| snapshot.own_place(stack)).filter(|own| *own != place);
    own.map_or(LogCell::Nothing, |own| LogCell::Text(label(own)))
}

fn notices(snapshot: &TracemallocSnapshot) -> Vec<LogNotice> {
    let error = |message| LogNotice { severity: Severity::Error, message };
    let flaw = snapshot.flaw.as_ref().map(|flaw| match flaw {
        Flaw::Cut => LogNotice::warning(
            "The file ends within the snapshot, as when the program was killed while it wrote: all figures are lower \
             bounds.",
        ),
        Flaw::Damaged(offset) => {
            let offset = format::count(*offset);
            error(format!("The file is damaged from byte {offset} on: all figures are lower bounds."))
        }
        Flaw::Foreign(reason) => error(format!(
            "The file is no snapshot as `Snapshot.dump` of tracemalloc writes it: {reason}. Nothing of it was loaded."
        )),
    });
    let unread = (snapshot.unread > 0).then(|| {
        let unread = format::counted(snapshot.unread, "trace");
        LogNotice::warning(format!("{unread} of an unknown form are in no figure."))
    });
    let trailing = (snapshot.trailing_bytes > 0).then(|| {
        let bytes = format::bytes(snapshot.trailing_bytes);
        LogNotice::warning(format!("The file goes on for {bytes} behind the snapshot, which were not read."))
    });
    [flaw, unread, trailing].into_iter().flatten().collect()
}
