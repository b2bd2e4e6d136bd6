//! Answers what is alive, and what differs between two moments.

use serde::Serialize;
use serde_json::json;
use shared::analysis::GroupBy;
use shared::api::OfFile;
use shared::report::LiveGroups;

use super::question;
use crate::Failure;
use crate::commands::diff::{Table, compare};
use crate::commands::mcp::answer::Answer;
use crate::commands::mcp::options::{AllocationsOptions, DiffOptions, PeakOptions};
use crate::commands::mcp::shelf::Shelf;
use crate::commands::mcp::words::Words;
use crate::commands::peak::page;
use crate::commands::{DiffArgs, PeakArgs};

/// Groups what is alive at the peak or after an event.
pub(in crate::commands::mcp) fn peak(shelf: &Shelf, options: &PeakOptions) -> Result<Answer, Failure> {
    let snapshot = &options.snapshot;
    let report = grouped(shelf, snapshot, options)?;
    let largest = report.groups.first().map(|group| group.title.clone()).unwrap_or_default();
    let (by, answer) = (report.by, answered(snapshot, report));
    Ok(match by {
        GroupBy::Stack | GroupBy::Frame | GroupBy::Function => answer.then(question(
            "allocations",
            &json!({ "snapshot": snapshot, "filter": function(&largest) }),
            "all memory of the largest group's function",
        )),
        _ => answer.then(question("peak", &json!({ "snapshot": snapshot, "by": "stack" }), "which code allocates it")),
    }
    .then(question("diff", &json!({ "a": snapshot, "b": snapshot, "step_a": 1, "step_b": 2 }), "what a step adds")))
}

/// Finds allocations by a text and a range.
pub(in crate::commands::mcp) fn allocations(shelf: &Shelf, options: &AllocationsOptions) -> Result<Answer, Failure> {
    let AllocationsOptions { snapshot, filter, .. } = options;
    let report = grouped(shelf, snapshot, options)?;
    let (is_range, is_empty) = (report.range.is_some(), report.allocations == 0);
    let kept = json!({ "snapshot": snapshot, "filter": filter, "from": 0, "part": "born-and-kept" });
    Ok(answered(snapshot, report)
        .then_if(!is_range && !is_empty, || question("allocations", &kept, "those that are never freed"))
        .then_if(is_empty, || {
            question("peak", &json!({ "snapshot": snapshot, "by": "function" }), "the names of functions there are")
        })
        .then(question("findings", &json!({ "files": [snapshot] }), "why memory stays, and what to change")))
}

fn grouped(shelf: &Shelf, snapshot: &str, options: &impl Serialize) -> Result<LiveGroups, Failure> {
    let args: PeakArgs = Words::of(options, &["snapshot"]).last([snapshot]).read()?;
    args.report(&*shelf.snapshot(snapshot)?)
}

fn answered(snapshot: &str, report: LiveGroups) -> Answer {
    Answer::new(page(snapshot, &report), &OfFile::new(snapshot, report))
}

/// Returns the function of a stack's title, such as `forward` of `forward (model.py:7)`.
fn function(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title)
}

pub(in crate::commands::mcp) fn diff(shelf: &Shelf, options: &DiffOptions) -> Result<Answer, Failure> {
    let DiffOptions { a, b, .. } = options;
    let args: DiffArgs = Words::of(options, &["a", "b"]).last([a, b]).read()?;
    let (of_a, of_b) = (shelf.snapshot(a)?, shelf.snapshot(b)?);
    let [at_a, at_b] = args.moments();
    let report = compare((&of_a, at_a), (&of_b, at_b), args.top, &args.own.rule())?;
    let largest = report.rows.first().map(|row| function(&row.title).to_owned());
    let answer = Answer::new(Table::of(&report, args.by, args.top).text(), &report);
    Ok(match largest {
        Some(largest) => answer.then(question(
            "allocations",
            &json!({ "snapshot": b, "filter": largest }),
            "all memory of the function that differs most",
        )),
        None => answer,
    }
    .then(question("findings", &json!({ "files": [b] }), "why memory stays, and what to change")))
}
