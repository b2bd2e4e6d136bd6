//! Texts and rows of the view of source files.

use crate::ask::ScopeData;
use shared::analysis::CodeKind;
use shared::base::format::{bytes, count, counted};
use shared::base::{Moment, ShortSort};
use shared::report::{FileLine, LineTotals, SourceFile, SourceReport};
use shared::source::{Match, Piece, SourceText, excerpt, match_files};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Lines that are shown on both sides of a line with memory.
const CONTEXT: u64 = 4;

pub(super) const MOST_FILES: usize = 200;

/// Most notes about files that could not be identified.
const MOST_NOTES: usize = 3;

/// Source files of the stacks that are in the user's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Located {
    /// Positions in the folder by the paths in the stacks.
    pub(super) files: BTreeMap<String, usize>,
    /// Sentences about paths that could not be identified.
    pub(super) notes: Vec<String>,
}

pub(super) fn located(stacks: &[String], folder: &str, files: &[String]) -> Located {
    let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut located = Located::default();
    for (path, found) in stacks.iter().zip(match_files(&stacks, folder, &files)) {
        if let Some(note) = found.note(&stacks, &files) {
            located.notes.push(format!("{path} is not shown: {note}."));
        } else if let Match::Found(file) = found {
            located.files.insert((*path).to_owned(), file);
        }
    }
    if let Some(more) = located.notes.len().checked_sub(MOST_NOTES).filter(|&more| more > 0) {
        located.notes.truncate(MOST_NOTES);
        located.notes.push(format!("{} are not shown for such a reason.", counted(more as u64, "more file")));
    }
    located
}

pub(super) fn folder_text(folder: &str, found: usize, is_cut: bool) -> String {
    let of = match found {
        0 => "none of the files in the stacks; choose the folder of the project that ran".to_owned(),
        found => format!("{} of the stacks", counted(found as u64, "file")),
    };
    let cut = if is_cut { "; it is too large, so not all of it was searched" } else { "" };
    format!("In {folder}: {of}{cut}")
}

pub(super) fn head_text(report: &SourceReport, scope: ScopeData) -> String {
    let SourceReport { event, totals, .. } = report;
    let moment = Moment::of_event_number(*event);
    let peak = if matches!(scope, ScopeData::Within { .. }) { ", the peak of the range" } else { "" };
    let when = if matches!(scope, ScopeData::Within { .. }) { "in the range" } else { "in the whole trace" };
    let allocated = counted(totals.allocated_count, "allocation");
    format!(
        "{} live {moment}{peak} · {} allocated by {allocated} {when}",
        bytes(totals.live_bytes),
        bytes(totals.allocated_bytes)
    )
}

/// Says which memory no line owns; `None` if there is none.
pub(super) fn unowned_text(report: &SourceReport, has_folder: bool) -> Option<String> {
    let of = if has_folder { "the files of the folder" } else { "the program's code" };
    let live = report.unowned.live_bytes;
    (live > 0).then(|| format!("{} live from stacks without a line in {of}", bytes(live)))
}

/// Returns the files of the list: those of the folder, and those that are not of the runtime.
pub(super) fn listed<'a>(report: &'a SourceReport, located: &Located) -> Vec<&'a SourceFile> {
    let is_listed = |file: &&SourceFile| file.kind != CodeKind::Runtime || located.files.contains_key(&file.path);
    let mut files: Vec<_> = report.files.iter().filter(is_listed).collect();
    files.short_sort_by_key(|file| !located.files.contains_key(&file.path));
    files
}

pub(super) fn split(path: &str) -> (&str, &str) {
    let at = path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    (&path[at..], path[..at].trim_end_matches(['/', '\\']))
}

/// Formats the cells beside a line; those of sums that are 0 are empty.
pub(super) fn margin(line: &FileLine) -> [String; 4] {
    let LineTotals { live_bytes, allocated_bytes, allocated_count, .. } = line.own;
    let shown = |n: u64, text: fn(u64) -> String| if n == 0 { String::new() } else { text(n) };
    let times = |n: u64| format!("{}×", count(n));
    [
        shown(live_bytes, bytes),
        shown(line.through.live_bytes, bytes),
        shown(allocated_bytes, bytes),
        shown(allocated_count, times),
    ]
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row<'a> {
    Line {
        number: u64,
        /// Text of the line, or its function if the text is not known.
        code: Result<&'a str, &'a str>,
        /// Memory of the line, if it is in a stack.
        line: Option<&'a FileLine>,
    },
    /// Lines without memory.
    Folded(Range<u64>),
}

/// Returns the rows of a file: without its text, only the lines in the stacks.
///
/// `open` has the first lines of the folds that the user has opened.
pub(super) fn rows<'a>(file: &'a SourceFile, text: Option<&'a SourceText>, open: &BTreeSet<u64>) -> Vec<Row<'a>> {
    let Some(text) = text else {
        let known = |line: &'a FileLine| Row::Line { number: line.line, code: Err(&line.function), line: Some(line) };
        return file.lines.iter().map(known).collect();
    };
    let hot: Vec<u64> = file.lines.iter().map(|line| line.line).collect();
    let mut rows = Vec::new();
    for piece in excerpt(&hot, text.len(), CONTEXT) {
        match piece {
            Piece::Folded(lines) if !open.contains(&lines.start) => rows.push(Row::Folded(lines)),
            Piece::Folded(lines) | Piece::Lines(lines) => rows.extend(lines.map(|number| {
                let line = hot.binary_search(&number).ok().map(|at| &file.lines[at]);
                Row::Line { number, code: Ok(text.line(number).unwrap_or_default()), line }
            })),
        }
    }
    rows
}

/// Returns the regular expression that finds the allocations of a line by the path and the number of a frame.
pub(super) fn line_expression(path: &str, line: u64) -> String {
    let mut expression = "^".to_owned();
    for c in path.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression + &format!(":{line}$")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::TextFilter;

    fn file(lines: &[u64]) -> SourceFile {
        let line = |&line: &u64| FileLine { line, function: "f".to_owned(), ..FileLine::default() };
        SourceFile { path: "/w/a.py".to_owned(), lines: lines.iter().map(line).collect(), ..SourceFile::default() }
    }

    #[test]
    fn without_a_text_the_known_lines_are_rows() {
        let file = file(&[3, 9]);
        let rows = rows(&file, None, &BTreeSet::new());
        let known = |at: usize| Row::Line { number: file.lines[at].line, code: Err("f"), line: Some(&file.lines[at]) };
        assert_eq!(rows, [known(0), known(1)]);
    }

    #[test]
    fn lines_far_from_memory_are_folded_until_they_are_opened() {
        let code: String = (1..=40).map(|line| format!("x{line}\n")).collect();
        let text = SourceText::new(code.as_bytes()).unwrap();
        let file = file(&[20]);
        let folded = rows(&file, Some(&text), &BTreeSet::new());
        assert_eq!((&folded[0], folded.last()), (&Row::Folded(1..16), Some(&Row::Folded(25..41))));
        assert_eq!(folded[5], Row::Line { number: 20, code: Ok("x20"), line: Some(&file.lines[0]) });
        let opened = rows(&file, Some(&text), &BTreeSet::from([1]));
        assert_eq!(opened[0], Row::Line { number: 1, code: Ok("x1"), line: None });
        assert_eq!(opened.len(), 25);
    }

    #[test]
    fn an_expression_finds_one_line() {
        for path in ["/w/a+b (1)/[x]/train.py", r"C:\w\{a}\train.py", "<eval_with_key>.3", "a-b#~&.py"] {
            let filter = TextFilter::expression(&line_expression(path, 6)).unwrap();
            assert!(filter.is_in(&format!("{path}:6")), "{path}");
            assert!(!filter.is_in(&format!("{path}:66")) && !filter.is_in(&format!("x{path}:6")), "{path}");
        }
        let filter = TextFilter::expression(&line_expression("a.py", 6)).unwrap();
        assert!(!filter.is_in("abpy:6"));
    }

    #[test]
    fn files_of_the_folder_come_first_and_others_are_named() {
        let named = |path: &str, kind| SourceFile { path: path.to_owned(), kind, ..SourceFile::default() };
        let files = vec![
            named("/v/site-packages/torch/a.py", CodeKind::Runtime),
            named("/v/site-packages/x/b.py", CodeKind::Library),
            named("/w/job/c.py", CodeKind::Own),
        ];
        let report = SourceReport { files, ..SourceReport::default() };
        let stacks: Vec<String> = report.files.iter().map(|file| file.path.clone()).collect();
        let paths = |located: &Located| {
            listed(&report, located).into_iter().map(|file| split(&file.path).0.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(paths(&Located::default()), ["b.py", "c.py"]);
        let found = located(&stacks, "job", &["c.py".to_owned()]);
        assert_eq!(paths(&found), ["c.py", "b.py"]);
        let torch = located(&stacks, "torch", &["a.py".to_owned()]);
        assert_eq!(paths(&torch), ["a.py", "b.py", "c.py"]);
        let stacks: Vec<String> = (0..6).map(|n| format!("/w/{n}/same.py")).collect();
        let found = located(&stacks, "job", &["same.py".to_owned()]);
        assert!(found.files.is_empty());
        assert_eq!(found.notes.len(), 4);
        assert_eq!(found.notes[0], "/w/0/same.py is not shown: could be same.py, as could /w/1/same.py.");
        assert_eq!(found.notes[3], "3 more files are not shown for such a reason.");
    }
}
