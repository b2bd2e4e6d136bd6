//! The page in headless Chromium: from a file to its timeline, memory of the tab, and frames.

use std::path::Path;

use serde_json::{Value, json};

use super::process;
use crate::browser::Browser;
use crate::server::Server;

/// What the page took for one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// Seconds from choosing the file until its model is ready.
    pub ready_s: f64,
    /// Seconds from choosing the file until its timeline is on the screen.
    pub drawn_s: f64,
    /// The highest resident memory of the tab's process, in bytes.
    pub peak_bytes: u64,
}

/// Times between frames, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    /// The median.
    pub p50_ms: f64,
    /// All but one in twenty are at most this long.
    pub p95_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Work of the page's own thread for each frame, on average.
    pub work_ms: f64,
}

/// The built page in a browser of its own.
pub struct Page {
    browser: Browser,
    _server: Server,
}

impl Page {
    /// Serves the built page and opens it.
    pub fn open() -> Self {
        let server = Server::with_page();
        let browser = Browser::open(&server.url("/"));
        browser.wait_for("document.querySelector('input[type=file]') !== null");
        Self { browser, _server: server }
    }

    /// Opens a file and waits for its timeline.
    ///
    /// # Panics
    ///
    /// There is none within half a minute.
    pub fn load(&self, file: &Path) -> Opening {
        let listen = "
            document.querySelector('input[type=file]')
                .addEventListener('change', () => performance.mark('file-chosen'), { capture: true });";
        self.browser.run(listen, Vec::new());
        self.browser.attach(&[file]);
        self.browser.wait_for("performance.getEntriesByName('timeline-drawn').length");
        let mark = |name: &str| {
            let time = self.browser.value(&format!("performance.getEntriesByName('{name}').at(-1).startTime"));
            time.as_f64().expect("a time") / 1000.0
        };
        let chosen = mark("file-chosen");
        let renderers = process::descendants_with(std::process::id(), "--type=renderer");
        let peak_bytes = renderers.into_iter().filter_map(process::peak_memory_bytes).max();
        Opening {
            ready_s: mark("snapshot-parsed") - chosen,
            drawn_s: mark("timeline-drawn") - chosen,
            peak_bytes: peak_bytes.expect("the process of the tab"),
        }
    }

    /// Zooms in and out again by the wheel, one step a frame.
    pub fn zoom(&self) -> Frames {
        self.frames("frame => wheel(frame < FRAMES / 2 ? -40 : 40)")
    }

    /// Drags to and fro over the zoomed timeline, one move a frame.
    pub fn pan(&self) -> Frames {
        self.browser.run(&format!("{GESTURES} for (let n = 0; n < 12; n++) wheel(-100);"), Vec::new());
        self.frames("frame => drag(frame)")
    }

    fn frames(&self, gesture: &str) -> Frames {
        let busy = self.busy_s();
        let script = format!(
            "{GESTURES}
            const step = {gesture};
            return new Promise(resolve => {{
                const times = [];
                const next = time => {{
                    times.push(time);
                    if (times.length > FRAMES) return resolve(times);
                    step(times.length);
                    requestAnimationFrame(next);
                }};
                requestAnimationFrame(next);
            }});"
        );
        let times = self.browser.run(&script, Vec::new());
        let work_s = self.busy_s() - busy;
        let times: Vec<f64> = times.as_array().expect("times").iter().filter_map(Value::as_f64).collect();
        let mut deltas: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        deltas.sort_by(f64::total_cmp);
        let at = |share: f64| deltas[((deltas.len() - 1) as f64 * share).round() as usize];
        Frames { p50_ms: at(0.5), p95_ms: at(0.95), max_ms: at(1.0), work_ms: work_s * 1000.0 / deltas.len() as f64 }
    }

    /// Seconds that the page's thread has worked so far.
    fn busy_s(&self) -> f64 {
        self.browser.devtools("Performance.enable", json!({}));
        let metrics = self.browser.devtools("Performance.getMetrics", json!({}));
        let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
        let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
        task.and_then(|metric| metric["value"].as_f64()).expect("the metric TaskDuration")
    }
}

const GESTURES: &str = "
    const FRAMES = 120;
    const plot = document.querySelector('[data-timeline]');
    const box = plot.getBoundingClientRect();
    const middle = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
    const options = { bubbles: true, cancelable: true, pointerId: 1, pointerType: 'mouse', isPrimary: true };
    const wheel = deltaY => plot.dispatchEvent(new WheelEvent('wheel', { ...options, ...middle, deltaY }));
    const point = (type, x, buttons) => plot.dispatchEvent(
        new PointerEvent(type, { ...options, clientX: x, clientY: middle.clientY, button: 0, buttons }));
    const drag = frame => {
        if (frame === 1) point('pointerdown', middle.clientX, 1);
        point('pointermove', middle.clientX + 200 * Math.sin(frame / 10), 1);
        if (frame === FRAMES) point('pointerup', middle.clientX, 0);
    };";
