//! Writes the measurements as tables and compares them with the budgets.

use super::Table;
use super::budget::{Budget, Unit};
use super::figures::{bytes, pair_ms, seconds, times};
use super::measure::Measured;
use super::native::Task;
use super::page::Visit;
use super::trace::Frames;

/// Name of this project's page among the viewers.
pub const OWN: &str = "snapscope";
/// Name of PyTorch's page among the viewers.
const OFFICIAL: &str = "official";

/// Returns the table of the viewers over all files.
pub fn viewers(all: &[Measured]) -> Table {
    let headings = [
        "file",
        "viewer",
        "model ready",
        "on screen",
        "of ours",
        "memory of the tab",
        "zoom p50 / p95 ms",
        "pan p50 / p95 ms",
        "thread's work p95 ms",
    ];
    let mut table = Table::new("In headless Chromium, from choosing a file to its timeline on the screen", &headings);
    for measured in all {
        let own_s = measured.median_of(OWN, |visit| visit.drawn_s);
        for (name, visits) in measured.visits.iter().filter(|(_, visits)| !visits.is_empty()) {
            let drawn_s = measured.median_of(name, |visit| visit.drawn_s);
            let frames = |of: fn(&Visit) -> Option<Frames>| {
                let figure = |which: fn(Frames) -> f64| measured.median_of(name, |visit| of(visit).map(which));
                pair_ms(figure(|frames| frames.p50_ms).zip(figure(|frames| frames.p95_ms)))
            };
            let work = |of: fn(&Visit) -> Option<Frames>| {
                measured.median_of(name, |visit| of(visit).map(|frames| frames.work_p95_ms))
            };
            table.row(&[
                file(measured),
                name.clone(),
                seconds(measured.median_of(name, |visit| visit.parsed_s)),
                measured.failure(name).map_or_else(|| seconds(drawn_s), str::to_owned),
                times(drawn_s, own_s),
                bytes(visits.iter().map(|visit| visit.peak_bytes).max().unwrap_or(0) as f64),
                frames(|visit| visit.zoom),
                frames(|visit| visit.pan),
                pair_ms(work(|visit| visit.zoom).zip(work(|visit| visit.pan))),
            ]);
        }
    }
    table
}

/// Returns the table of what each viewer loads before a file is chosen.
pub fn starts(all: &[Measured]) -> Table {
    let mut table = Table::new("Start of the page, over loopback", &["viewer", "sent", "ready for a file after"]);
    let Some(first) = all.first() else { return table };
    for (name, _) in first.visits.iter().filter(|(_, visits)| !visits.is_empty()) {
        let sent = first.median_of(name, |visit| Some(visit.start.bytes));
        let ready = first.median_of(name, |visit| Some(visit.start.ready_ms / 1000.0));
        let sent = sent.map_or_else(|| "–".to_owned(), |sent| format!("{:.0} kB", sent / 1000.0));
        table.row(&[name.clone(), sent, seconds(ready)]);
    }
    table
}

/// Returns the table of the tasks over all files.
pub fn tasks(all: &[Measured]) -> Table {
    let headings = ["file", "task", "time", "of CPython's", "memory", "of CPython's"];
    let mut table = Table::new("Native, one thread, a fresh process each", &headings);
    for measured in all {
        let python = (measured.seconds(Task::CPython), measured.task_bytes(Task::CPython));
        for (task, _) in measured.tasks.iter().filter(|(_, costs)| !costs.is_empty()) {
            let (time, memory) = (measured.seconds(*task), measured.task_bytes(*task));
            table.row(&[
                file(measured),
                task.name().to_owned(),
                seconds(time),
                times(time, python.0),
                memory.map_or_else(|| "–".to_owned(), bytes),
                times(memory, python.1),
            ]);
        }
    }
    table
}

/// Returns the budgets with the figures measured for them.
pub fn budgets(all: &[Measured]) -> Vec<Budget> {
    let at = |size_mb: u32| all.iter().find(|measured| measured.size_mb == size_mb);
    let ratio = |value: Option<f64>, of: Option<f64>| value.zip(of).map(|(value, of)| value / of);
    let budget = |what: String, at_most: f64, figure: Option<f64>, unit: Unit| Budget { what, at_most, figure, unit };
    let mut budgets = Vec::new();
    if let Some(measured) = at(100) {
        let to_official = |figure: fn(&Visit) -> Option<f64>| {
            ratio(measured.median_of(OWN, figure), measured.median_of(OFFICIAL, figure))
        };
        let (drawn, peak) = (to_official(|visit| visit.drawn_s), to_official(|visit| Some(visit.peak_bytes as f64)));
        budgets.push(budget("100 MB: file to timeline, of the official page's time".into(), 0.1, drawn, Unit::Times));
        budgets.push(budget("100 MB: memory of the tab, of the official page's".into(), 1.0 / 3.0, peak, Unit::Times));
    }
    if let Some(measured) = at(1000) {
        let drawn = measured.median_of(OWN, |visit| visit.drawn_s);
        let of_python = ratio(drawn, measured.seconds(Task::CPython));
        let peak = measured.median_of(OWN, |visit| Some(visit.peak_bytes as f64));
        budgets.push(budget("1 GB: file to timeline, of CPython's unpickling".into(), 4.0, of_python, Unit::Times));
        budgets.push(budget("1 GB: memory of the tab".into(), 1.5e9, peak, Unit::Bytes));
    }
    for measured in all {
        let size_mb = measured.size_mb;
        let scan = ratio(measured.seconds(Task::DecodeBytes), measured.seconds(Task::Scan));
        let parsed = measured.median_of(OWN, |visit| visit.parsed_s);
        let native = ratio(parsed, measured.seconds(Task::Ready));
        // For small files, the start of the web worker and the resolution of the clock outweigh the work.
        if size_mb >= 100 {
            budgets.push(budget(format!("{size_mb} MB: decoding, of a bare opcode scan"), 3.0, scan, Unit::Times));
            budgets.push(budget(format!("{size_mb} MB: model ready in the page, of native"), 2.0, native, Unit::Times));
            for (name, of) in gestures() {
                let work = measured.median_of(OWN, |visit| of(visit).map(|frames| frames.work_p95_ms));
                let what = format!("{size_mb} MB: {name}, work of the page's thread a frame, p95");
                budgets.push(budget(what, 16.0, work, Unit::Milliseconds));
            }
        }
    }
    if let Some(first) = all.first() {
        let sent = first.median_of(OWN, |visit| Some(visit.start.bytes));
        budgets.push(budget("start of the page, bytes sent".into(), 300_000.0, sent, Unit::Bytes));
    }
    budgets
}

/// Name of a gesture, and a getter of the frames recorded during it.
type Gesture = (&'static str, fn(&Visit) -> Option<Frames>);

fn gestures() -> [Gesture; 2] {
    [("zoom", |visit| visit.zoom), ("pan", |visit| visit.pan)]
}

fn file(measured: &Measured) -> String {
    format!("{:.1} MB", measured.file_bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::native::Cost;

    fn measured() -> Measured {
        let frames = Frames { count: 9, p50_ms: 17.0, p95_ms: 20.0, max_ms: 30.0, work_p95_ms: 24.0 };
        let own = Visit { drawn_s: Some(0.5), peak_bytes: 100 << 20, zoom: Some(frames), ..Visit::default() };
        let official = Visit { drawn_s: Some(4.0), peak_bytes: 400 << 20, ..Visit::default() };
        let crash = Visit { failure: Some("crash".to_owned()), ..Visit::default() };
        Measured {
            size_mb: 100,
            file_bytes: 112_000_000,
            tasks: vec![
                (Task::CPython, vec![Cost { seconds: 3.0, peak_bytes: 600 << 20 }]),
                (Task::Scan, vec![Cost { seconds: 0.1, peak_bytes: 0 }]),
                (Task::DecodeBytes, vec![Cost { seconds: 0.25, peak_bytes: 60 << 20 }]),
            ],
            visits: vec![(OWN.into(), vec![own]), (OFFICIAL.into(), vec![official]), ("neo".into(), vec![crash])],
        }
    }

    #[test]
    fn a_crash_is_a_result() {
        let text = viewers(&[measured()]).text(true);
        assert!(text.contains("| crash "), "{text}");
        assert!(text.contains("8.00×") && text.contains("17.0 / 20.0") && text.contains("400 MiB"), "{text}");
        assert!(tasks(&[measured()]).text(true).contains("0.08×"));
        assert_eq!(starts(&[]).text(true).lines().count(), 5);
    }

    #[test]
    fn budgets_say_what_was_missed() {
        let verdicts: Vec<(String, String)> =
            budgets(&[measured()]).iter().map(|budget| (budget.what.clone(), budget.verdict())).collect();
        let verdict = |what: &str| &verdicts.iter().find(|(name, _)| name.contains(what)).expect(what).1;
        assert_eq!(verdict("official page's time"), "missed by 25 %");
        assert_eq!(verdict("memory of the tab, of the official"), "met");
        assert_eq!(verdict("bare opcode scan"), "met");
        assert_eq!((verdict("zoom").as_str(), verdict("pan").as_str()), ("missed by 50 %", "not measured"));
    }
}
