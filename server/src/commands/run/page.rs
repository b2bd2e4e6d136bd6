//! Formats the verdict for the terminal, and as a badge for a page, such as a README.

use std::collections::{BTreeMap, HashSet};

use shared::api::{RunReport, RunStatus, RunStop, ValueKind};
use shared::base::format::{bytes, count, counted};
use shared::job::messages::LINE;

use super::options::RunArgs;
use super::ran::{Ran, capacity};
use super::verdict::{micros, out_of_memory};
use crate::commands::diagnose::log_summary;
use crate::commands::text;

/// Most lines of the script that are named for the values that they read.
const MOST_PLACES: usize = 8;

const MOST_RANKS: usize = 16;

/// Formats the verdicts of all runs: a page for one, a table for several.
pub(super) fn all(args: &RunArgs, found: &[Ran]) -> String {
    match found {
        [ran] => one(args, ran),
        _ => several(args, found),
    }
}

fn one(args: &RunArgs, ran: &Ran) -> String {
    let Some(run) = decisive(ran) else { return String::new() };
    let mut page = format!("\n{}\n\n", subtitle(args, run));
    if run.snapshot.is_some() {
        page += &format!("{}\n", text::section(&figures(ran, run), &[1]));
    }
    if let Some(engine) = &run.engine {
        page += &format!("{}\n", log_summary(engine));
    }
    notes(ran, run).iter().for_each(|note| page += &text::indented(&text::lines(note)));
    if ran.runs.len() > 1 {
        let row = |run: &RunReport| {
            let name = run.rank.map_or("process".to_owned(), |rank| format!("rank {rank}"));
            let (reserved, steps) = (bytes(run.peak_reserved_bytes), counted(run.steps, "step"));
            vec![name, reserved, steps, run.status.name().to_owned(), run.snapshot.clone().unwrap_or_default()]
        };
        let rows: Vec<Vec<String>> = ran.runs.iter().take(MOST_RANKS).map(row).collect();
        page += &text::section(&rows, &[1, 2]);
    }
    if let Some(snapshot) = &run.snapshot {
        page += &format!("  Next: snapscope diagnose {snapshot}\n");
    }
    page
}

/// Returns the process that decides: the first of those with the run's status and the highest peak.
pub(super) fn decisive(ran: &Ran) -> Option<&RunReport> {
    let of_status = ran.runs.iter().rev().filter(|run| run.status == ran.status);
    of_status.max_by_key(|run| run.peak_reserved_bytes)
}

fn subtitle(args: &RunArgs, run: &RunReport) -> String {
    let torch = run.torch.as_ref().map_or("without PyTorch".to_owned(), |torch| format!("torch {torch}"));
    [run.card.clone(), args.script(), torch, ending(args, run)].join(" · ")
}

/// Says how the script ended.
fn ending(args: &RunArgs, run: &RunReport) -> String {
    let steps = counted(run.steps, "step");
    match run.stopped {
        Some(RunStop::Steps) => format!("stopped after {steps}, as asked"),
        Some(RunStop::Time) if args.limits().is_time_asked => {
            format!("stopped after {}, as asked, and {steps}", micros(run.seconds))
        }
        Some(RunStop::Time) => format!("stopped after {}, the limit of --time, and {steps}", micros(run.seconds)),
        Some(RunStop::Serving) => "stopped when it had started and waited for requests".to_owned(),
        Some(RunStop::Interrupt) => format!("interrupted after {steps}"),
        Some(RunStop::Signal) => format!("ended by a signal after {steps}"),
        Some(RunStop::HostMemory | RunStop::Disk) => format!("killed after {steps}"),
        None => match run.exit_status {
            Some(0) | None => format!("ran to its end, {steps}"),
            Some(status) => format!("exit status {status} after {steps}"),
        },
    }
}

fn figures(ran: &Ran, run: &RunReport) -> Vec<Vec<String>> {
    let capacity = bytes(run.capacity_bytes);
    let free = run.capacity_bytes.saturating_sub(run.peak_reserved_bytes);
    let verdict = match run.status {
        // The peak is that of what did not fit.
        RunStatus::Fits if !run.ooms.is_empty() => {
            format!("of {capacity}: it fits after {}", errors(run))
        }
        RunStatus::Fits if run.stopped.is_some() => format!("of {capacity}: it fits so far, {} free", bytes(free)),
        RunStatus::Fits => format!("of {capacity}: it fits, {} free", bytes(free)),
        RunStatus::OutOfMemory => format!("of {capacity}: it does not fit"),
        RunStatus::Failed | RunStatus::Unsupported => format!("of {capacity}, until it failed"),
    };
    let row = |name: &str, value: String, note: String| vec![name.to_owned(), value, note];
    let mut rows = vec![
        row("peak reserved", bytes(run.peak_reserved_bytes), verdict),
        row("peak allocated", bytes(run.peak_allocated_bytes), String::new()),
        row("peak live", bytes(run.peak_live_bytes), "of tensors, as requested".to_owned()),
        row("events", count(run.events), format!("in {}", micros(run.seconds))),
    ];
    if ran.runs.len() > 1 {
        rows.push(row("processes", count(ran.runs.len() as u64), "these are the figures of the highest".to_owned()));
    }
    rows
}

/// Returns how often memory ran out, by lines: for one call, cuDNN tries many sizes of workspace.
fn errors(run: &RunReport) -> String {
    let lines: HashSet<_> = run.ooms.iter().map(|oom| (&oom.file, oom.line)).collect();
    match run.ooms.len() {
        1 => "1 out-of-memory error".to_owned(),
        _ => format!("out-of-memory errors in {}", counted(lines.len() as u64, "line")),
    }
}

/// Says what happened, and how sure the figures are.
fn notes(ran: &Ran, run: &RunReport) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if let Some(message) = &run.message {
        notes.push(capitalized(message));
    }
    if run.status == RunStatus::Fits && !run.ooms.is_empty() {
        let last = run.ooms.last().map(out_of_memory).unwrap_or_default();
        notes.push(format!(
            "The script went on with less memory after {}, which it or a library caught, as for cuDNN's workspaces; the \
             last: {last}",
            errors(run)
        ));
    }
    if run.events_lost > 0 {
        let lost = counted(run.events_lost, "event");
        notes.push(format!(
            "The snapshot lacks the first {lost}, and peak live is of the others only; --max-events keeps more"
        ));
    }
    if !run.unsupported.is_empty() {
        let named = run.unsupported.iter().map(|function| match ran.callers.get(function) {
            Some(place) => format!("{function}, called at {place}"),
            None => function.clone(),
        });
        let named = named.collect::<Vec<_>>().join("; ");
        notes.push(format!("Not modeled, and refused by name: {named}"));
    }
    if run.status == RunStatus::Unsupported {
        notes.extend(ran.log.iter().map(|line| format!("{LINE}{line}")));
    }
    for failure in &ran.failures {
        notes.push(format!("A part of the recording failed, and the script went on without it: {failure}"));
    }
    notes.extend(ran.notes.iter().map(|note| capitalized(note)));
    notes.extend(ran.uncounted.iter().map(|sentence| capitalized(sentence)));
    notes.extend(values(ran, run));
    notes
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Says which values the script read that a virtual GPU does not know.
fn values(ran: &Ran, run: &RunReport) -> Vec<String> {
    let decides = |kind: ValueKind| kind != ValueKind::Number;
    let list = |is_assumed: bool| -> (u64, String) {
        let mut places: BTreeMap<String, u64> = BTreeMap::new();
        for read in run.values_read.iter().filter(|read| read.is_assumed == is_assumed && decides(read.kind)) {
            let file = read.file.rsplit('/').next().unwrap_or_default();
            *places.entry(format!("{file}:{}", read.line)).or_default() += read.count;
        }
        let more = places.len().saturating_sub(MOST_PLACES);
        let mut shown: Vec<String> = places.keys().take(MOST_PLACES).cloned().collect();
        if more > 0 {
            shown.push(format!("and {}", counted(more as u64, "more line")));
        }
        (places.values().sum(), shown.join(", "))
    };
    let mut said = Vec::new();
    for (is_assumed, what) in [
        (false, "read from the device; sizes after them are guesses"),
        (true, "assumed, such as the choices of a router (see --routing)"),
    ] {
        if let (reads @ 1.., places) = list(is_assumed) {
            let (values, were) = (counted(reads, "value"), if reads == 1 { "was" } else { "were" });
            said.push(format!("{values} {were} {what}: {places}"));
        }
    }
    if let Some(reason) = &ran.without_values {
        said.push(format!("Values of the script were not followed: {reason}"));
    } else if ran.is_compiled {
        said.push("Values were not followed inside of what torch.compile compiled".to_owned());
    } else if said.is_empty() && run.snapshot.is_some() && ran.failures.is_empty() {
        said.push("No size depends on a value that only a GPU could compute".to_owned());
    }
    said
}

/// Formats one table of several machines.
fn several(args: &RunArgs, found: &[Ran]) -> String {
    let torch = found.iter().find_map(|ran| ran.runs.first()?.torch.clone()).unwrap_or_default();
    let mut page = format!("\n{} · torch {torch}\n\n", args.script());
    let mut rows = vec![["card", "peak reserved", "of", "steps", "", "snapshot"].map(str::to_owned).to_vec()];
    rows.extend(found.iter().filter_map(row));
    page += &format!("{}\n", text::section(&rows, &[1, 2, 3]));
    for ran in found {
        for note in decisive(ran).map(|run| notes(ran, run)).unwrap_or_default() {
            page += &text::indented(&text::lines(&format!("{}: {note}", ran.cards)));
        }
    }
    if args.fit {
        let fits = found.iter().filter(|ran| ran.status == RunStatus::Fits).min_by_key(|ran| capacity(&ran.cards));
        page += &match fits {
            Some(ran) => format!("\n  The smallest card that holds it is {}\n", ran.cards),
            None => "\n  None of these cards holds it\n".to_owned(),
        };
    }
    page
}

fn row(ran: &Ran) -> Option<Vec<String>> {
    let run = decisive(ran)?;
    let peak = if run.peak_reserved_bytes == 0 { "-".to_owned() } else { bytes(run.peak_reserved_bytes) };
    let (verdict, snapshot) = (ran.status.name().replace('-', " "), run.snapshot.clone().unwrap_or_default());
    Some(vec![ran.cards.to_string(), peak, bytes(run.capacity_bytes), count(run.steps), verdict, snapshot])
}

/// Width of a letter at the size of the text, which is stretched to the sum, in pixels.
const LETTER: usize = 6;

/// Space beside each text.
const MARGIN: usize = 6;

/// Returns the verdict as SVG, such as `fits t4-16gb: 13.2 GiB`, of the process that needs the most memory.
pub(in crate::commands) fn badge(run: &RunReport) -> String {
    let card = &run.card;
    let (label, figure, color) = match run.status {
        RunStatus::Fits => (format!("fits {card}"), bytes(run.peak_reserved_bytes), "#2e7d32"),
        RunStatus::OutOfMemory => (format!("does not fit {card}"), "out of memory".to_owned(), "#c62828"),
        RunStatus::Failed | RunStatus::Unsupported => ("GPU memory".to_owned(), "unknown".to_owned(), "#616161"),
    };
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(&label) + 2 * MARGIN, width(&figure) + 2 * MARGIN);
    let text = |x: usize, text: &str| {
        format!("<text x=\"{x}\" y=\"14\" textLength=\"{}\">{}</text>", width(text), text.replace('&', "&amp;"))
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{label}: {figure}\">\
         <title>{label}: {figure}</title><clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"20\" fill=\"#424242\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/></g>\
         <g fill=\"#fff\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        text(MARGIN, &label),
        text(left + MARGIN, &figure),
        all = left + right,
    )
}
