//! Answers what a file is, what is alive and found in it, what differs between two moments, and what other settings or
//! another GPU would have changed.

use std::path::Path;

use logs::Content;
use serde::Serialize;
use serde_json::json;
use shared::analysis::{FindingCode, GroupBy, studies};
use shared::api::OfFile;
use shared::base::Severity;
use shared::base::format::{bytes, count, counted};
use shared::report::{LiveGroups, headlines};

use super::question;
use crate::Failure;
use crate::commands::diff::{Table, compare};
use crate::commands::mcp::answer::Answer;
use crate::commands::mcp::options::{
    AllocationsOptions, DiffOptions, FindingsOptions, OpenOptions, PeakOptions, ReplayOptions, SummaryOptions,
};
use crate::commands::mcp::shelf::{Shelf, relative};
use crate::commands::mcp::words::Words;
use crate::commands::peak::page as groups_page;
use crate::commands::replay::page;
use crate::commands::{DiagnoseArgs, DiffArgs, PeakArgs, ReplayArgs, inspect, named};

const MOST_FILES: usize = 40;

/// Opens a file, a folder or a link, and says what it is.
pub(in crate::commands::mcp) fn open(shelf: &Shelf, options: &OpenOptions) -> Result<Answer, Failure> {
    let (name, path) = (&options.path, shelf.path(&options.path)?);
    if path.is_dir() {
        return folder(name, &path);
    }
    let findings = || question("findings", &json!({ "files": [name] }), "what fills the memory, and what to change");
    let opened = match shelf.content(name)? {
        Content::Snapshot(opened) => opened,
        Content::Log(_) => {
            let text = format!("{name} is a log that says something about memory");
            let report = json!({ "file": name, "kind": "log", "answer": text });
            return Ok(Answer::new(text, &report).then(findings()));
        }
    };
    let devices: Vec<_> = opened.devices().collect();
    let sentences = headlines(&opened.trace, &studies(&opened.trace, &devices));
    let events: u64 = devices.iter().map(|(device, _)| device.events.len() as u64).sum();
    let on = counted(devices.len() as u64, opened.device_word());
    let text = format!("{}\n{} on {on}", sentences.join("\n"), counted(events, "event"));
    let report = json!({ "file": name, "kind": "snapshot", "answer": sentences, "events": events });
    Ok(Answer::new(text, &report).then(findings()).then(question(
        "summary",
        &json!({ "snapshot": name }),
        "figures of each device",
    )))
}

/// Lists the files of a folder, the latest first.
fn folder(name: &str, path: &Path) -> Result<Answer, Failure> {
    let mut files: Vec<_> = named::files(&[path.to_owned()])?
        .into_iter()
        .filter_map(|file| {
            let metadata = file.path.metadata().ok()?;
            Some((metadata.modified().ok(), metadata.len(), file.path.display().to_string()))
        })
        .collect();
    files.sort();
    files.reverse();
    let latest = files.first().map(|(_, _, file)| file.clone());
    let lines: Vec<String> =
        files.iter().take(MOST_FILES).map(|(_, len, file)| format!("{file} ({})", bytes(*len))).collect();
    let text = format!("{name} has {} files, the latest first:\n{}", count(files.len() as u64), lines.join("\n"));
    let report = json!({ "folder": name, "kind": "folder", "files": lines, "count": files.len() });
    Ok(Answer::new(text, &report)
        .then(question("findings", &json!({ "files": [name] }), "explains all files of the folder together"))
        .then(question("open", &json!({ "path": latest }), "says what the latest file is")))
}

pub(in crate::commands::mcp) fn summary(shelf: &Shelf, options: &SummaryOptions) -> Result<Answer, Failure> {
    let name = &options.snapshot;
    let opened = shelf.snapshot(name)?;
    Ok(Answer::new(inspect::page(&opened), &inspect::document(&opened))
        .then(question("findings", &json!({ "files": [name] }), "what the figures mean, and what to change"))
        .then(question("peak", &json!({ "snapshot": name, "by": "category" }), "weights, activations, gradients, …")))
}

pub(in crate::commands::mcp) fn findings(shelf: &Shelf, options: &FindingsOptions) -> Result<Answer, Failure> {
    let files = &options.files;
    let paths = files.iter().map(|name| shelf.path(name)).collect::<Result<Vec<_>, _>>()?;
    let args: DiagnoseArgs = Words::of(options, &["files"]).last(paths.iter().cloned()).read()?;
    let mut reported = args.reported();
    if reported.is_nothing {
        let failure = reported.unread.pop();
        let failure = failure.unwrap_or_else(|| Failure::new("there are no files", "name a snapshot or a log"));
        return Err(paths.iter().fold(failure, |failure, path| relative(path, failure)));
    }
    for failure in &reported.unread {
        reported.page += &format!("\nNot read: {}\n", failure.message);
    }
    // A file behind a link has the name of the link.
    for (name, path) in files.iter().zip(&paths) {
        reported.page = reported.page.replace(&path.display().to_string(), name);
    }
    let report = &mut reported.report;
    report.runs.iter_mut().for_each(|one| one.file = named(files, &paths, &one.file));
    report.findings.iter_mut().for_each(|one| one.file = named(files, &paths, &one.file));
    report.growth.iter_mut().for_each(|one| one.file = named(files, &paths, &one.file));
    let has = |codes: &[FindingCode]| reported.report.findings.iter().any(|one| codes.contains(&one.report.code));
    let problem = reported.report.findings.iter().find(|one| one.report.severity > Severity::Info);
    // Only snapshots can be asked about further.
    let snapshot = reported.report.runs.first().map(|run| run.file.clone());
    let mut answer = Answer::new(reported.page.clone(), &reported.report);
    let Some(snapshot) = snapshot else { return Ok(answer) };
    let of = |more: serde_json::Value| {
        let mut parameters = json!({ "snapshot": snapshot });
        more.as_object().into_iter().flatten().for_each(|(key, value)| parameters[key] = value.clone());
        parameters
    };
    if let Some(function) = problem.and_then(|one| one.report.line.as_ref()).map(|line| &line.function) {
        answer =
            answer.then(question("allocations", &of(json!({ "filter": function })), "memory of the line in question"));
    }
    let runs_out = has(&[FindingCode::OutOfMemory, FindingCode::CardTooSmall, FindingCode::CardNearlyFull]);
    Ok(answer
        .then_if(runs_out || has(&[FindingCode::ReservedAboveLive, FindingCode::ReservedAboveLimit]), || {
            question("replay", &of(json!({ "sweep": true })), "whether settings or another GPU would have helped")
        })
        .then(question("peak", &of(json!({ "by": "stack" })), "who holds the memory at the peak")))
}

/// Returns the name under which a file was asked for; files of a folder have their own.
fn named(names: &[String], paths: &[std::path::PathBuf], file: &str) -> String {
    let place = paths.iter().position(|path| path.display().to_string() == file);
    place.map_or_else(|| file.to_owned(), |place| names[place].clone())
}

pub(in crate::commands::mcp) fn replay(shelf: &Shelf, options: &ReplayOptions) -> Result<Answer, Failure> {
    let ReplayOptions { snapshot, capacity, .. } = options;
    let args: ReplayArgs = Words::of(options, &["snapshot"]).last([snapshot]).read()?;
    let opened = shelf.snapshot(snapshot)?;
    let report = args.report(&opened)?;
    let (fits, is_sweep) = (report.ooms.is_empty(), report.sweep.is_some());
    let best = report.sweep.as_ref().and_then(|sweep| sweep.best.clone()).filter(|best| !best.is_empty());
    let mut answer = Answer::new(page(&opened, &report), &OfFile::new(snapshot, report));
    if let Some(best) = best {
        let parameters = json!({ "snapshot": snapshot, "settings": best, "capacity": capacity });
        answer = answer.then(question("replay", &parameters, "the best settings alone"));
    }
    Ok(answer
        .then_if(!is_sweep, || {
            let parameters = json!({ "snapshot": snapshot, "capacity": capacity, "sweep": true });
            question("replay", &parameters, "which settings and which GPU are best")
        })
        .then_if(!fits, || question("peak", &json!({ "snapshot": snapshot }), "what to make smaller"))
        .then_if(fits, || {
            "run {\"command\": [\"python\", …], \"card\": …}: proves it with the program itself".to_owned()
        }))
}

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
    Answer::new(groups_page(snapshot, &report), &OfFile::new(snapshot, report))
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
