//! Measures a viewer in headless Chromium: from a file to its timeline, memory of the tab, and frames.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::devtools::DevTools;
use super::trace::{self, CATEGORIES, Frames};
use super::viewer::{Kind, Viewer};
use testkit::browser::Browser;
use testkit::process;

/// Timeout of one file.
const PATIENCE: Duration = Duration::from_mins(3);

/// Interval at which a busy page is polled.
const PAUSE: Duration = Duration::from_millis(50);

/// Delay between the moment at which a page accepts a file and the choice of one, which a quick user needs.
const BEFORE_FILE: Duration = Duration::from_millis(800);

/// Bytes per second of the line over which the start of a page is measured, 10 Mbit/s.
const LINE_BYTES_PER_S: u32 = 1_250_000;

/// Time that a page gets to show the file in spite of an error.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// Measurements of one file in one viewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// Seconds from choosing the file until its model is ready, if the page reports that.
    pub parsed_s: Option<f64>,
    /// Seconds from choosing the file until its timeline is on the screen.
    pub drawn_s: Option<f64>,
    /// Reason why there is no timeline: `crash`, an error of the page, or a timeout.
    pub failure: Option<String>,
    /// Peak resident memory of the tab's process in bytes, including its web workers.
    pub peak_bytes: u64,
    /// Frames while zooming in and out again with the wheel.
    pub zoom: Option<Frames>,
    /// Frames while dragging back and forth.
    pub pan: Option<Frames>,
    pub start: Start,
}

/// Cost of opening the page, before a file is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start {
    /// Bytes of the page and of everything that it had asked for by then, as transferred.
    pub bytes: f64,
    /// Milliseconds from requesting the page until a file could be chosen.
    pub ready_ms: f64,
}

/// Opens a page in a new browser over a line of 10 Mbit/s, without a cache.
pub fn start_over_line(viewer: &Viewer) -> Start {
    let browser = Browser::open("about:blank");
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": include_str!("page.js") }));
    browser.devtools("Network.enable", json!({}));
    let line = json!({
        "offline": false, "latency": 0, "downloadThroughput": LINE_BYTES_PER_S, "uploadThroughput": LINE_BYTES_PER_S
    });
    browser.devtools("Network.emulateNetworkConditions", line);
    open(&browser, viewer)
}

/// Opens a file in a new browser, then zooms and pans in its timeline.
pub fn visit(viewer: &Viewer, file: &Path) -> Visit {
    let browser = Browser::open("about:blank");
    let source = format!("window.benchKeeps = {};\n{}", viewer.kind == Kind::Page, include_str!("page.js"));
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }));
    let start = open(&browser, viewer);
    std::thread::sleep(BEFORE_FILE);
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

/// Loads the page and waits until it accepts a file.
fn open(browser: &Browser, viewer: &Viewer) -> Start {
    browser.goto(&viewer.url);
    let can_take = match viewer.kind {
        Kind::Own => "document.querySelector('input[type=file]') !== null",
        // Only the latest version of this page has a file input; all versions have selection lists.
        Kind::Official => "document.querySelector('select') !== null",
        Kind::Page => "document.readyState === 'complete'",
    };
    browser.run(&format!("benchWhen(() => {can_take}, 'bench-ready')"), Vec::new());
    browser.wait_for("performance.getEntriesByName('bench-ready-settled').length");
    let figures = browser.value(
        "(({ startTime: ready }) => [['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))
            .filter(entry => entry.startTime < ready).reduce((sum, entry) => sum + entry.encodedBodySize, 0),
          ready])(performance.getEntriesByName('bench-ready')[0])",
    );
    let figure = |index: usize| figures[index].as_f64().unwrap_or(0.0);
    Start { bytes: figure(0), ready_ms: figure(1) }
}

/// Waits for the timeline and tracks the peak memory meanwhile, because a crashed tab cannot be measured any more.
fn wait(browser: &Browser, peak_bytes: &mut u64) -> Result<(), String> {
    const STATE: &str = "return [performance.getEntriesByName('bench-drawn-settled').length > 0, benchErrors[0] ?? '']";
    let begin = Instant::now();
    let mut failed_at = None;
    loop {
        let state = browser.try_run(STATE);
        *peak_bytes = (*peak_bytes).max(memory(browser));
        match state {
            Ok(state) if state[0] == true => return Ok(()),
            // Not every error concerns the file: a timeline that appears soon after one still counts.
            Ok(state) if state[1] != "" && failed_at.get_or_insert_with(Instant::now).elapsed() > AFTER_ERROR => {
                return Err(format!("error: {}", text(&state[1])));
            }
            // The page is busy: the driver waited 30 s for it.
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

/// Returns the peak memory of the largest renderer process, which is the tab.
fn memory(browser: &Browser) -> u64 {
    let renderers = process::descendants_with(browser.pid(), "--type=renderer");
    renderers.into_iter().filter_map(process::peak_memory_bytes).max().unwrap_or(0)
}

fn gesture(browser: &Browser, tools: &mut DevTools, kind: Kind, name: &str) -> Option<Frames> {
    tools.start_trace(&CATEGORIES).expect("a trace");
    // A page may be so slow that the driver gives up; then it has no figures.
    let done = browser.try_run(&format!("return benchGesture({}, '{name}')", kind.plot()));
    let events = tools.stop_trace().expect("the trace");
    done.ok().and_then(|_| trace::frames(&events, "bench-gesture", "bench-gesture-end").ok())
}
