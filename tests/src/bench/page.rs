//! A viewer in headless Chromium: from a file to its timeline, memory of the tab, and frames.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::devtools::DevTools;
use super::process;
use super::trace::{self, CATEGORIES, Frames};
use super::viewer::{Kind, Viewer};
use crate::browser::Browser;

/// How long a viewer may take for one file.
const PATIENCE: Duration = Duration::from_mins(3);

/// Between two looks at a page that is at work.
const PAUSE: Duration = Duration::from_millis(50);

/// Between the start of a browser and a file: it still starts parts of itself when it shows the first page, and nobody
/// chooses a file sooner.
const BEFORE_FILE: Duration = Duration::from_secs(4);

/// How long a page may go on after an error.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// What a page took for one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// Seconds from choosing the file until its model is ready, where the page says so.
    pub parsed_s: Option<f64>,
    /// Seconds from choosing the file until its timeline is on the screen.
    pub drawn_s: Option<f64>,
    /// Why there is no timeline: `crash`, an error of the page, or that it took too long.
    pub failure: Option<String>,
    /// The highest resident memory of the tab's process, its workers included, in bytes.
    pub peak_bytes: u64,
    /// Frames while zooming in and out again by the wheel.
    pub zoom: Option<Frames>,
    /// Frames while dragging to and fro.
    pub pan: Option<Frames>,
    /// How the page started.
    pub start: Start,
}

/// What a page took before a file was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start {
    /// Bytes of the page and of all that it loaded, as they were sent.
    pub bytes: f64,
    /// Milliseconds from asking for the page until a file could be chosen.
    pub ready_ms: f64,
}

/// Opens a file in a browser of its own, and zooms and pans in what it shows.
///
/// # Panics
///
/// Chromium does not start, or a page that showed the file cannot be measured.
pub fn visit(viewer: &Viewer, file: &Path) -> Visit {
    let browser = Browser::open("about:blank");
    let source = format!("window.benchKeeps = {};\n{}", viewer.kind == Kind::Page, include_str!("page.js"));
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }));
    let start = open(&browser, viewer);
    let mut visit = Visit { start, ..Visit::default() };
    browser.run("benchInput()", Vec::new());
    browser.run(&format!("benchWhen(() => {}, 'bench-drawn')", viewer.kind.is_drawn()), Vec::new());
    let mut tools = DevTools::of(browser.pid()).expect("Chromium's tools");
    tools.start_trace(&[CATEGORIES[0], CATEGORIES[2]]).expect("a trace");
    browser.choose(&[file]);
    visit.failure = wait(&browser, &mut visit.peak_bytes).err();
    if visit.failure.is_some() {
        return visit;
    }
    let events = tools.stop_trace().expect("the trace");
    let drawn_s = trace::seconds_to_screen(&events, "bench-chosen", "bench-drawn", "bench-drawn-settled");
    visit.drawn_s = Some(drawn_s.expect("the marks in the trace"));
    visit.parsed_s = viewer.kind.parsed_mark().map(|mark| since_chosen_s(&browser, mark));
    visit.zoom = gesture(&browser, &mut tools, viewer.kind, "zoom");
    visit.pan = gesture(&browser, &mut tools, viewer.kind, "pan");
    visit.peak_bytes = visit.peak_bytes.max(memory(&browser));
    visit
}

/// Loads the page, and waits until it can take a file.
fn open(browser: &Browser, viewer: &Viewer) -> Start {
    browser.goto(&viewer.url);
    let can_take = match viewer.kind {
        Kind::Own => "document.querySelector('input[type=file]') !== null",
        // Of this page's versions only the latest has an input for files; each has lists to choose from.
        Kind::Official => "document.querySelector('select') !== null",
        Kind::Page => "document.readyState === 'complete'",
    };
    browser.run(&format!("benchWhen(() => {can_take}, 'bench-ready')"), Vec::new());
    browser.wait_for("performance.getEntriesByName('bench-ready-settled').length");
    let figures = browser.value(
        "[['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))
            .reduce((sum, entry) => sum + entry.encodedBodySize, 0),
          performance.getEntriesByName('bench-ready')[0].startTime]",
    );
    std::thread::sleep(BEFORE_FILE);
    let figure = |index: usize| figures[index].as_f64().unwrap_or(0.0);
    Start { bytes: figure(0), ready_ms: figure(1) }
}

/// Waits until the timeline is there; notes the highest memory meanwhile, since a crash leaves nothing to ask.
fn wait(browser: &Browser, peak_bytes: &mut u64) -> Result<(), String> {
    const STATE: &str = "return [performance.getEntriesByName('bench-drawn-settled').length > 0, benchErrors[0] ?? '']";
    let begin = Instant::now();
    let mut failed_at = None;
    loop {
        let state = browser.try_run(STATE);
        *peak_bytes = (*peak_bytes).max(memory(browser));
        match state {
            Ok(state) if state[0] == true => return Ok(()),
            // Not every error is about the file: what comes soon after one is a result yet.
            Ok(state) if state[1] != "" && failed_at.get_or_insert_with(Instant::now).elapsed() > AFTER_ERROR => {
                return Err(format!("error: {}", text(&state[1])));
            }
            // Busy: the driver waited for half a minute.
            Err(error) if error.contains("timeout") => {}
            Err(error) if is_crash(&error) => return Err("crash".to_owned()),
            Err(error) => return Err(format!("error: {}", error.lines().next().unwrap_or_default())),
            Ok(_) => {}
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("nothing in {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(PAUSE);
    }
}

fn is_crash(error: &str) -> bool {
    ["crash", "disconnected", "no such window", "invalid session"].iter().any(|word| error.contains(word))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn since_chosen_s(browser: &Browser, mark: &str) -> f64 {
    let time = |name: &str| format!("performance.getEntriesByName('{name}').at(-1).startTime");
    let value = browser.value(&format!("({} - {}) / 1000", time(mark), time("bench-chosen")));
    value.as_f64().expect("a time")
}

/// The highest memory so far of any renderer: the tab is the largest.
fn memory(browser: &Browser) -> u64 {
    let renderers = process::descendants_with(browser.pid(), "--type=renderer");
    renderers.into_iter().filter_map(process::peak_memory_bytes).max().unwrap_or(0)
}

fn gesture(browser: &Browser, tools: &mut DevTools, kind: Kind, name: &str) -> Option<Frames> {
    tools.start_trace(&CATEGORIES).expect("a trace");
    // A page may be so slow that the driver gives up: then there are no figures.
    let done = browser.try_run(&format!("return benchGesture({}, '{name}')", kind.plot()));
    let events = tools.stop_trace().expect("the trace");
    done.ok().and_then(|_| trace::frames(&events, "bench-gesture", "bench-gesture-end").ok())
}
