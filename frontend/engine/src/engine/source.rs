//! Answers questions about source files.

use super::ready::Ready;
use super::selection::{filter, population, scope};
use frontend::ask::{GetSource, Readable};
use shared::analysis::SourceConfig;
use shared::report::{SourceReport, source_report};

/// Most lines that are sent, those with the most memory.
const MOST_LINES: usize = 20_000;

/// Sums the allocations of a selection by line; the error is a message about the filter's text.
pub(super) fn source(ready: Ready<'_>, ask: &GetSource) -> Readable<SourceReport> {
    let filter = filter(&ask.selection.filter)?;
    let population = population(ready, filter.needs_categories());
    let config = SourceConfig {
        focus: ask.focus.as_ref().map(|files| files.iter().cloned().collect()),
        ..SourceConfig::of(&population, &scope(ready, ask.selection.scope), filter)
    };
    Ok(source_report(&population, &config).top(MOST_LINES))
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::{Answers, Axis, FilterData, GetSource, GetSourceFiles, Part, ScopeData, SelectionData};
    use shared::report::SourceReport;

    const TRACE: &str = "
        alloc a 100 @forward@/w/model.py:4<main@/w/train.py:5
        alloc b 50 @main@/w/train.py:5
        free a
        alloc c 7 @f@libc10.so:9
    ";

    #[track_caller]
    fn ask(selection: SelectionData, focus: Option<&[&str]>) -> Result<SourceReport, String> {
        let focus = focus.map(|files| files.iter().map(|&file| file.to_owned()).collect());
        let mut engine = Engine::of(TRACE);
        engine.answer(&GetSource { device: 0, selection, focus }).unwrap()
    }

    /// Formats each line with its own live and allocated bytes.
    fn lines(report: &SourceReport) -> Vec<String> {
        let text = |(file, line): (&shared::report::SourceFile, &shared::report::FileLine)| {
            format!("{}:{} {} {}", file.path, line.line, line.own.live_bytes, line.own.allocated_bytes)
        };
        report.ranked().map(text).collect()
    }

    #[test]
    fn lines_follow_the_scope() {
        assert_eq!(lines(&ask(SelectionData::at(2), None).unwrap()), ["/w/model.py:4 100 100", "/w/train.py:5 50 50"]);
        assert_eq!(lines(&ask(SelectionData::at(4), None).unwrap()), ["/w/train.py:5 50 50", "/w/model.py:4 0 100"]);
        let scope = ScopeData::Within { axis: Axis::Events, x0: 2.0, x1: 5.0, part: Part::Any };
        let within = ask(SelectionData { scope, ..SelectionData::default() }, None).unwrap();
        assert_eq!(lines(&within)[0], "/w/model.py:4 100 0");
    }

    #[test]
    fn lines_of_the_folder_own_what_others_call() {
        let report = ask(SelectionData::at(2), Some(&["/w/train.py"])).unwrap();
        assert_eq!(lines(&report), ["/w/train.py:5 150 150", "/w/model.py:4 0 0"]);
    }

    #[test]
    fn a_filter_limits_the_sums() {
        let filter = |text: &str, is_expression| FilterData { text: text.to_owned(), is_expression, ..<_>::default() };
        let with = |filter| ask(SelectionData { filter, ..SelectionData::at(2) }, None);
        assert_eq!(lines(&with(filter("forward", false)).unwrap()), ["/w/model.py:4 100 100", "/w/train.py:5 0 0"]);
        assert!(with(filter("(", true)).is_err());
    }

    #[test]
    fn the_files_are_those_of_all_stacks() {
        let mut engine = Engine::of(TRACE);
        assert_eq!(engine.answer(&GetSourceFiles { device: 0 }), Ok(vec!["/w/model.py".into(), "/w/train.py".into()]));
    }
}
