//! Writes the measurements as tables and compares them with the budgets.

use std::path::Path;

use super::figures::{bytes, pair_ms, seconds, times};
use super::measure::Measured;
use super::native::Task;
use super::page::Visit;
use super::trace::Frames;
use super::{EVENTS_PER_MB, Table, figures};

pub const OWN: &str = "snapscope";
const OFFICIAL: &str = "official";

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

pub fn starts(all: &[Measured]) -> Table {
    let headings = ["viewer", "sent", "ready for a file after", "the same over 10 Mbit/s"];
    let mut table = Table::new("Start of the page without a cache, over loopback", &headings);
    let Some(first) = all.first() else { return table };
    for (name, _) in first.visits.iter().filter(|(_, visits)| !visits.is_empty()) {
        let sent = first.median_of(name, |visit| Some(visit.start.bytes));
        let ready = first.median_of(name, |visit| Some(visit.start.ready_ms / 1000.0));
        let sent = sent.map_or_else(|| "–".to_owned(), |sent| format!("{:.0} kB", sent / 1000.0));
        table.row(&[name.clone(), sent, seconds(ready), seconds(first.start_ms(name).map(|ms| ms / 1000.0))]);
    }
    table
}

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

/// Size in MB from which files are large enough for budgets of decoding and of frames.
///
/// For small files, the start of the web worker and the resolution of the clock outweigh the work.
const LARGE_MB: u32 = 50;

pub fn budgets(all: &[Measured]) -> Vec<Budget> {
    let mut budgets: Vec<Budget> = all.iter().flat_map(of_file).collect();
    if let Some(first) = all.first() {
        let sent = first.median_of(OWN, |visit| Some(visit.start.bytes));
        budgets.push(budget("start of the page, bytes sent", 115_000.0, sent, Unit::Bytes));
        let ready_ms = first.start_ms(OWN);
        let what = "start of the page over 10 Mbit/s, until a file can be chosen";
        budgets.push(budget(what, 400.0, ready_ms, Unit::Milliseconds));
    }
    budgets
}

/// Modules of the page with their compressed bytes on 2026-11-23 (commit 4a3611e6), of which a third should go.
const MODULES: [(&str, f64); 2] = [("viewer", 541_123.0), ("engine", 702_513.0)];

/// Returns the budgets of the modules in a folder with the built pages, compressed by Brotli.
pub fn modules(dist: &Path) -> Vec<Budget> {
    let size = |name: &str| {
        let versions = std::fs::read_dir(dist.join("assets")).ok()?.flatten();
        let sizes = versions.filter_map(|version| {
            std::fs::metadata(version.path().join(format!("{name}_bg.wasm.br"))).ok().map(|data| data.len() as f64)
        });
        sizes.reduce(f64::max)
    };
    let of = |(name, before): (&str, f64)| {
        budget(&format!("module {name}, compressed"), before * 2.0 / 3.0, size(name), Unit::Bytes)
    };
    MODULES.map(of).into()
}

fn of_file(measured: &Measured) -> Vec<Budget> {
    let size_mb = measured.size_mb;
    let named = |what: &str| format!("{size_mb} MB: {what}");
    let mut budgets = Vec::new();
    let to_official = |figure: fn(&Visit) -> Option<f64>| {
        ratio(measured.median_of(OWN, figure), measured.median_of(OFFICIAL, figure))
    };
    let at_most = if size_mb < LARGE_MB { 0.2 } else { 0.1 };
    let drawn = to_official(|visit| visit.drawn_s);
    budgets.push(budget(&named("file to timeline, of the official page's time"), at_most, drawn, Unit::Times));
    if size_mb >= LARGE_MB {
        budgets.extend(of_large_file(measured));
    }
    if size_mb >= 1000 {
        let peak = measured.median_of(OWN, |visit| Some(visit.peak_bytes as f64));
        budgets.push(budget(&named("memory of the tab"), f64::from(600 << 20), peak, Unit::Bytes));
    } else {
        let peak = to_official(|visit| Some(visit.peak_bytes as f64));
        budgets.push(budget(&named("memory of the tab, of the official page's"), 1.0 / 3.0, peak, Unit::Times));
    }
    budgets
}

fn of_large_file(measured: &Measured) -> Vec<Budget> {
    let named = |what: &str| format!("{} MB: {what}", measured.size_mb);
    let scan = ratio(measured.seconds(Task::DecodeBytes), measured.seconds(Task::Scan));
    let native = ratio(measured.median_of(OWN, |visit| visit.parsed_s), measured.seconds(Task::Ready));
    let inspect = ratio(measured.seconds(Task::Inspect), measured.seconds(Task::CPython));
    let mut budgets = vec![
        budget(&named("decoding, of a bare opcode scan"), 1.5, scan, Unit::Times),
        budget(&named("snapscope inspect, of CPython's unpickling"), 0.1, inspect, Unit::Times),
        budget(&named("model ready in the page, of native"), 2.0, native, Unit::Times),
    ];
    let events = (measured.size_mb as usize * EVENTS_PER_MB) as f64;
    // A second for eleven million events, and for twenty million.
    for (what, task, per_second) in [("all findings", Task::Findings, 11e6), ("what-if replay", Task::Replay, 20e6)] {
        let ms = measured.seconds(task).map(|seconds| seconds * 1e3);
        budgets.push(budget(&named(what), events / per_second * 1e3, ms, Unit::Milliseconds));
    }
    for (name, of) in gestures() {
        let frames = |figure: fn(Frames) -> f64| measured.median_of(OWN, |visit| of(visit).map(figure));
        let (p95, longest) = (frames(|frames| frames.p95_ms), frames(|frames| frames.max_ms));
        budgets.push(budget(&named(&format!("{name}, presented frames, p95")), 16.7, p95, Unit::Milliseconds));
        budgets.push(budget(&named(&format!("{name}, longest presented frame")), 33.0, longest, Unit::Milliseconds));
    }
    budgets
}

fn budget(what: &str, at_most: f64, figure: Option<f64>, unit: Unit) -> Budget {
    Budget { what: what.to_owned(), at_most, figure, unit }
}

fn ratio(value: Option<f64>, of: Option<f64>) -> Option<f64> {
    value.zip(of).map(|(value, of)| value / of)
}

/// Name of a gesture, and a getter of the frames recorded during it.
type Gesture = (&'static str, fn(&Visit) -> Option<Frames>);

fn gestures() -> [Gesture; 2] {
    [("zoom", |visit| visit.zoom), ("pan", |visit| visit.pan)]
}

fn file(measured: &Measured) -> String {
    format!("{:.1} MB", measured.file_bytes as f64 / 1e6)
}

#[derive(Clone, Debug)]
pub struct Budget {
    pub what: String,
    /// Limit, in the unit of the figure.
    pub at_most: f64,
    /// Measured value; `None` if this run did not measure it.
    pub figure: Option<f64>,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ratio to another figure of the same run.
    Times,
    Bytes,
    Milliseconds,
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Times if value < 1.0 => format!("{value:.3}×"),
            Self::Times => format!("{value:.1}×"),
            Self::Bytes => figures::bytes(value),
            Self::Milliseconds => format!("{value:.1} ms"),
        }
    }
}

impl Budget {
    /// Returns `met`, the relative excess in percent, or `not measured`.
    pub fn verdict(&self) -> String {
        match self.figure {
            None => "not measured".to_owned(),
            Some(figure) if figure <= self.at_most => "met".to_owned(),
            Some(figure) => format!("{:.0} % over", ((figure / self.at_most - 1.0) * 100.0).max(1.0)),
        }
    }
}

pub fn table(budgets: &[Budget]) -> Table {
    let mut table = Table::new("Budgets", &["what", "at most", "figure", ""]);
    for budget in budgets.iter().filter(|budget| budget.figure.is_some()) {
        let figure = budget.figure.map_or_else(|| "–".to_owned(), |figure| budget.unit.text(figure));
        table.row(&[budget.what.clone(), budget.unit.text(budget.at_most), figure, budget.verdict()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::native::Cost;
    use crate::bench::page::Start;

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
            starts: vec![(OWN.into(), vec![Start { ready_ms: 300.0, ..Start::default() }])],
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
    fn modules_are_compared_with_their_former_sizes() {
        let dist = tempfile::tempdir().expect("a folder");
        let verdicts = || modules(dist.path()).iter().map(Budget::verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(), ["not measured", "not measured"]);
        let assets = dist.path().join("assets/0123");
        std::fs::create_dir_all(&assets).expect("room");
        std::fs::write(assets.join("viewer_bg.wasm.br"), [0; 1000]).expect("room");
        std::fs::write(assets.join("engine_bg.wasm.br"), vec![0; 2 * MODULES[1].1 as usize]).expect("room");
        assert_eq!(verdicts(), ["met", "200 % over"]);
    }

    #[test]
    fn budgets_say_what_exceeds_them() {
        let verdicts: Vec<(String, String)> =
            budgets(&[measured()]).iter().map(|budget| (budget.what.clone(), budget.verdict())).collect();
        let verdict = |what: &str| &verdicts.iter().find(|(name, _)| name.contains(what)).expect(what).1;
        assert_eq!(verdict("official page's time"), "25 % over");
        assert_eq!(verdict("memory of the tab, of the official"), "met");
        assert_eq!(verdict("bare opcode scan"), "67 % over");
        assert_eq!(
            (verdict("zoom, presented").as_str(), verdict("pan, presented").as_str()),
            ("20 % over", "not measured")
        );
        assert_eq!((verdict("longest").as_str(), verdict("10 Mbit/s").as_str()), ("met", "met"));
    }

    #[test]
    fn verdicts() {
        let budget = |figure| Budget { what: "time".to_owned(), at_most: 4.0, figure, unit: Unit::Times };
        assert_eq!(budget(Some(4.0)).verdict(), "met");
        assert_eq!(budget(Some(5.0)).verdict(), "25 % over");
        assert_eq!(budget(Some(4.001)).verdict(), "1 % over");
        assert_eq!(budget(None).verdict(), "not measured");
        let text = table(&[budget(Some(0.25)), budget(None)]).text(true);
        assert!(text.contains("| time | 4.0×    | 0.250× | met |") && text.lines().count() == 6, "{text}");
    }
}
