//! Provides the common steps of all journeys: opening the page, opening a snapshot, reading the view.

use std::cell::Cell;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use shared::analysis::FindingCode;
use testkit::browser::{Browser, Locator, Spot};
use testkit::server::{Server, root};

/// Expression of the list of files that a reload brings back; undefined without one.
const FILES: &str = "JSON.parse(sessionStorage.getItem('snapscope-files'))?.files";

pub(crate) const MIDDLE: Spot = Spot(0.5, 0.5);

/// Keys that select the content of a field, so that typing replaces it.
pub(crate) const SELECT_ALL: &str = "\u{e009}a\u{e000}";

/// Script that finds the element around the plot, even if a high view below folds it to its minimap.
const PLOT: &str = "document.querySelector('[data-timeline]')";

/// Browser whose page writes nothing to its console, as is checked at the end.
pub(crate) struct Quiet {
    browser: Browser,
    may_write: Cell<bool>,
}

impl Quiet {
    pub(crate) fn new(browser: Browser) -> Self {
        Self { browser, may_write: Cell::new(false) }
    }

    /// Lets the page write to its console, such as about a request that fails.
    pub(crate) fn may_write(&self) {
        self.may_write.set(true);
    }
}

impl Deref for Quiet {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !self.may_write.get() && !std::thread::panicking() {
            self.check_console();
        }
    }
}

/// Server with the built page, and a browser on it.
pub(crate) struct Journey {
    // Order matters: the browser closes before the server stops.
    browser: Quiet,
    /// `None` if the server does not belong to this journey.
    server: Option<Rc<Server>>,
    /// URL of the empty page, without its last slash.
    top: String,
}

impl Deref for Journey {
    type Target = Quiet;

    fn deref(&self) -> &Quiet {
        &self.browser
    }
}

impl Journey {
    #[track_caller]
    pub(crate) fn start(path: &str) -> Self {
        Self::start_sized(path, 1280, 720)
    }

    /// Opens a path in a window of a given size.
    #[track_caller]
    pub(crate) fn start_sized(path: &str, width: u32, height: u32) -> Self {
        Self::on(Rc::new(Server::with_page()), path, (width, height))
    }

    /// Opens a path of the same server in a new browser without any stored data.
    #[track_caller]
    pub(crate) fn elsewhere(&self, path: &str) -> Self {
        Self::on(self.server.clone().expect("a server"), path, (1280, 720))
    }

    #[track_caller]
    fn on(server: Rc<Server>, path: &str, (width, height): (u32, u32)) -> Self {
        let top = server.url("");
        let browser = Quiet::new(Browser::open_sized(&format!("{top}{path}"), width, height));
        let journey = Self { browser, server: Some(server), top };
        journey.wait_for_page();
        journey
    }

    /// Opens a page at `top`, which another server than Snapscope's sends.
    #[track_caller]
    pub(crate) fn at(top: &str, path: &str) -> Self {
        let top = top.trim_end_matches('/').to_owned();
        let journey = Self { browser: Quiet::new(Browser::open(&format!("{top}{path}"))), server: None, top };
        journey.wait_for_page();
        journey
    }

    pub(crate) fn end_server(&mut self) {
        self.server = None;
    }

    /// Waits until the script of the page has drawn it.
    #[track_caller]
    pub(crate) fn wait_for_page(&self) {
        self.role("banner", "*").wait();
    }

    pub(crate) fn plot(&self) -> Locator<'_> {
        self.find("[data-timeline]")
    }

    pub(crate) fn figures(&self) -> Locator<'_> {
        self.find("main:not([data-loading]) [data-figures]")
    }

    pub(crate) fn pinned(&self) -> Locator<'_> {
        self.article("Pinned allocation")
    }

    /// Returns the sentences above the findings, which are there once the findings are.
    pub(crate) fn lead(&self) -> Locator<'_> {
        self.region("Findings").status("*").nth(0)
    }

    pub(crate) fn finding(&self, code: FindingCode) -> Locator<'_> {
        self.region("Findings").find(&format!("[data-code={}]", code.name()))
    }

    pub(crate) fn panel_tab(&self) -> Locator<'_> {
        self.tablist("Details").find("[aria-selected=true]")
    }

    pub(crate) fn device_tab(&self) -> Locator<'_> {
        self.tablist("Devices").find("[aria-selected=true]")
    }

    #[track_caller]
    pub(crate) fn wait_for_device(&self, position: u32) {
        self.device_tab().wait_until(&format!("it.dataset.device === '{position}'"));
    }

    pub(crate) fn files(&self) -> Locator<'_> {
        self.role("navigation", "Open files").role("listitem", "*")
    }

    pub(crate) fn shown_file(&self) -> Locator<'_> {
        self.role("navigation", "Open files").find("li:has([aria-current=page])")
    }

    #[track_caller]
    pub(crate) fn show_file(&self, name: &str) {
        self.files().button(&format!("{name}*")).click();
    }

    #[track_caller]
    pub(crate) fn wait_for_files(&self, count: usize) {
        self.role("navigation", "Open files").find("[data-status=ready]").wait_count(count);
    }

    #[track_caller]
    pub(crate) fn wait_for_address(&self, part: &str) {
        self.wait_for(&format!("location.hash.includes('{part}')"));
    }

    /// Waits until the service worker has cached the page for offline visits.
    #[track_caller]
    pub(crate) fn wait_until_kept(&self) {
        self.wait_for(
            "navigator.serviceWorker.getRegistration().then(kept => kept?.active?.state === 'activated' \
             && !kept.installing && !kept.waiting)",
        );
    }

    /// Waits until the bytes of all local files are stored for a reload.
    #[track_caller]
    pub(crate) fn wait_until_files_are_kept(&self) {
        self.wait_for(&format!("{FILES}.every(file => file.is_kept)"));
    }

    /// Waits until the page has no file that a reload would lose.
    #[track_caller]
    fn wait_until_it_may_close(&self) {
        self.wait_for(&format!("({FILES} ?? []).every(file => file.is_kept)"));
    }

    /// Reloads the current URL, once its files are kept for that, and waits for the page.
    #[track_caller]
    pub(crate) fn reload(&self) {
        self.wait_until_it_may_close();
        self.reload_at_once();
    }

    /// Reloads the current URL, which loses files that are not kept, and waits for the page.
    #[track_caller]
    pub(crate) fn reload_at_once(&self) {
        self.run("window.isOld = true; location.reload()", Vec::new());
        self.wait_for("window.isOld === undefined");
        self.wait_for_page();
    }

    /// Opens the page with one snapshot and waits for its timeline.
    #[track_caller]
    pub(crate) fn with(snapshot: &str) -> Self {
        let journey = Self::start("/");
        journey.attach(&[&self::snapshot(snapshot)]);
        journey.wait_for_timeline();
        assert_eq!(journey.value("frames.length"), 0, "nothing is rehearsed beside a file");
        journey
    }

    /// Opens another path in the same tab, once the files are kept: before that, the browser asks.
    #[track_caller]
    pub(crate) fn visit(&self, path: &str) {
        self.wait_until_it_may_close();
        self.goto(&format!("{}{path}", self.top));
    }

    /// Waits until the first picture of the shown file is on the screen.
    #[track_caller]
    pub(crate) fn wait_for_timeline(&self) {
        self.wait_for("performance.getEntriesByName('snapshot-parsed').length");
        self.wait_for("performance.getEntriesByName('timeline-drawn').length");
        self.settle();
        let has_bands = "(plot => !plot.checkVisibility() || Number(plot.dataset.bands) > 0)";
        assert_eq!(self.value(&format!("{has_bands}({PLOT})")), true, "the picture has no bands");
    }

    /// Waits until the picture on the screen is that of the current view, unless the plot is folded to its minimap.
    #[track_caller]
    pub(crate) fn settle(&self) {
        let is_settled = "(plot => plot && (!plot.checkVisibility() || plot.dataset.settled === 'true'))";
        self.wait_for(&format!("{is_settled}({PLOT})"));
    }

    /// Returns a numeric attribute of the plot.
    #[track_caller]
    pub(crate) fn attribute(&self, name: &str) -> f64 {
        let value = self.value(&format!("{PLOT}.getAttribute({name:?})"));
        value.as_str().and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is {value}"))
    }

    #[track_caller]
    pub(crate) fn view(&self) -> View {
        self.settle();
        let [x0, x1, y0, y1] = ["data-x0", "data-x1", "data-y0", "data-y1"].map(|name| self.attribute(name));
        View { x0, x1, y0, y1 }
    }

    /// Waits until a condition on the view holds, because wheel and keys take effect in the next frame.
    #[track_caller]
    pub(crate) fn wait_for_view(&self, condition: &str) {
        self.wait_for(&format!(
            "(({{ x0, x1, y0, y1 }}) => {condition})\
             (Object.fromEntries(['x0', 'x1', 'y0', 'y1'].map(k => [k, +{PLOT}.dataset[k]])))"
        ));
    }
}

/// Ranges of a view: events or microseconds along x, bytes along y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    pub(crate) x0: f64,
    pub(crate) x1: f64,
    pub(crate) y0: f64,
    pub(crate) y1: f64,
}

impl View {
    pub(crate) fn width(self) -> f64 {
        self.x1 - self.x0
    }

    pub(crate) fn height(self) -> f64 {
        self.y1 - self.y0
    }
}

pub(crate) fn snapshot(name: &str) -> PathBuf {
    Path::new(root()).join("tests/data/snapshots").join(name)
}
