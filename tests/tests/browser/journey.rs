//! Provides the common steps of all journeys: opening the page, opening a snapshot, reading the view.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use testkit::browser::{Browser, Spot};
use testkit::server::{Server, root};

/// Selector of the element around the plot.
pub(crate) const PLOT: &str = "[data-timeline]";

pub(crate) const MIDDLE: Spot = Spot(0.5, 0.5);

/// Keys that select the content of a field, so that typing replaces it.
pub(crate) const SELECT_ALL: &str = "\u{e009}a\u{e000}";

/// Server with the built page, and a browser on it.
pub(crate) struct Journey {
    // Order matters: the browser closes before the server stops.
    browser: Browser,
    /// `None` if the server does not belong to this journey.
    server: Option<Rc<Server>>,
    /// URL of the empty page, without its last slash.
    top: String,
}

impl Deref for Journey {
    type Target = Browser;

    fn deref(&self) -> &Browser {
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
        let browser = Browser::open_sized(&format!("{top}{path}"), width, height);
        let journey = Self { browser, server: Some(server), top };
        journey.wait_for_page();
        journey
    }

    /// Opens a page at `top`, which another server than Snapscope's sends.
    #[track_caller]
    pub(crate) fn at(top: &str, path: &str) -> Self {
        let top = top.trim_end_matches('/').to_owned();
        let journey = Self { browser: Browser::open(&format!("{top}{path}")), server: None, top };
        journey.wait_for_page();
        journey
    }

    /// Stops the server; the browser stays open.
    pub(crate) fn end_server(&mut self) {
        self.server = None;
    }

    /// Waits until the script of the page has drawn it.
    #[track_caller]
    pub(crate) fn wait_for_page(&self) {
        self.wait_for("document.querySelector('header') !== null");
    }

    /// Waits until a selector finds an element.
    #[track_caller]
    pub(crate) fn wait_for_element(&self, selector: &str) {
        self.wait_for(&format!("document.querySelector(`{selector}`) !== null"));
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
        self.wait_for("JSON.parse(sessionStorage.getItem('snapscope-files'))?.files.every(file => file.is_kept)");
    }

    /// Reloads the current URL and waits for the page.
    #[track_caller]
    pub(crate) fn reload(&self) {
        self.run("window.isOld = true; location.reload()", Vec::new());
        self.wait_for("window.isOld === undefined && document.querySelector('header') !== null");
    }

    /// Opens the page with one snapshot and waits for its timeline.
    #[track_caller]
    pub(crate) fn with(snapshot: &str) -> Self {
        let journey = Self::start("/");
        journey.attach(&[&self::snapshot(snapshot)]);
        journey.wait_for_timeline();
        journey
    }

    /// Opens another path in the same tab.
    #[track_caller]
    pub(crate) fn visit(&self, path: &str) {
        self.goto(&format!("{}{path}", self.top));
    }

    /// Waits until the first picture of the shown file is on the screen.
    #[track_caller]
    pub(crate) fn wait_for_timeline(&self) {
        self.wait_for("performance.getEntriesByName('snapshot-parsed').length");
        self.wait_for("performance.getEntriesByName('timeline-drawn').length");
        self.settle();
        assert!(self.attribute("data-bands") > 0.0, "the picture has no bands");
    }

    /// Waits until the picture on the screen is that of the current view.
    #[track_caller]
    pub(crate) fn settle(&self) {
        self.wait_for(&format!("document.querySelector('{PLOT}')?.dataset.settled === 'true'"));
    }

    /// Returns a numeric attribute of the plot.
    #[track_caller]
    pub(crate) fn attribute(&self, name: &str) -> f64 {
        let value = self.value(&format!("document.querySelector('{PLOT}').getAttribute('{name}')"));
        let number = value.as_str().and_then(|text| text.parse().ok());
        number.unwrap_or_else(|| panic!("{name} is {value}"))
    }

    /// Returns the view of the plot, once it has settled.
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
             (Object.fromEntries(['x0', 'x1', 'y0', 'y1'].map(k => [k, +document.querySelector('{PLOT}').dataset[k]])))"
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

/// Returns the path of a snapshot in `tests/data/snapshots/`.
pub(crate) fn snapshot(name: &str) -> PathBuf {
    Path::new(root()).join("tests/data/snapshots").join(name)
}
