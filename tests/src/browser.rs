//! Drives a headless Chromium in tests.
//!
//! Calls block, so a journey reads from top to bottom and needs no async runtime of its own.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction, WheelAction, WheelActions};
use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::patience::PATIENCE;
use crate::server::root;

use driver::{Driver, Own};
pub use locator::Locator;

mod driver;
mod locator;

/// Script that finds elements; it defines `find`, which takes the steps of a [`Locator`].
const FIND: &str = include_str!("browser/find.js");

/// Interval at which the page is polled.
const PAUSE: Duration = Duration::from_millis(25);

/// Flags that run Chromium without a screen, a GPU or a network, also as root in a container.
const FLAGS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-prefers-reduced-motion",
];

/// Browser with one tab, closed when dropped.
pub struct Browser {
    runtime: Runtime,
    client: Client,
    driver: Driver,
}

impl Browser {
    /// Opens a URL in a new browser of 1280 × 720 CSS pixels.
    #[track_caller]
    pub fn open(url: &str) -> Self {
        Self::open_sized(url, 1280, 720)
    }

    /// Opens a URL in a new browser whose page has the given size in CSS pixels.
    #[track_caller]
    pub fn open_sized(url: &str, width: u32, height: u32) -> Self {
        let driver = Driver::start();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let options = json!({
            "goog:chromeOptions": { "args": FLAGS },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let capabilities: Capabilities = serde_json::from_value(options).expect("an object");
        let connected = runtime.block_on(
            ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
                .capabilities(capabilities)
                .connect(&driver.url),
        );
        let browser = Self { client: connected.expect("Chromium to start"), runtime, driver };
        // A window has a frame even when headless; this sets the size of the page itself.
        browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        browser.goto(url);
        browser
    }

    #[track_caller]
    pub fn goto(&self, url: &str) {
        self.wait(self.client.goto(url));
    }

    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression})"), Vec::new())
    }

    /// Runs statements with `arguments` and returns their result.
    #[track_caller]
    pub fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.wait(self.client.execute(&format!("{FIND}\n{script}"), arguments))
    }

    /// Runs statements like [`Self::run`], on a page that may be busy or may crash.
    ///
    /// # Errors
    ///
    /// Returns the driver's message if the page does not answer within 30 s or has crashed.
    pub fn try_run(&self, script: &str) -> Result<Value, String> {
        self.runtime.block_on(self.client.execute(script, Vec::new())).map_err(|error| error.to_string())
    }

    /// Returns the id of the driver's process, from which those of this browser descend.
    pub fn pid(&self) -> u32 {
        self.driver.pid()
    }

    /// Waits until an expression is truthy and returns its value; a failure leaves a picture in `target/screenshots`.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) -> Value {
        let start = Instant::now();
        loop {
            let value = self.value(expression);
            if !matches!(value, Value::Null | Value::Bool(false)) && value != json!(0) && value != json!("") {
                return value;
            }
            if start.elapsed() > PATIENCE {
                let picture = self.screenshot("gave-up");
                let (page, console) = (self.find("body").text(), self.console());
                panic!("waited in vain for {expression}; see {}\n{page}\n{console:#?}", picture.display());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Passes files to the page's file input, as the file dialog does.
    #[track_caller]
    pub fn attach(&self, files: &[&Path]) {
        self.choose(files);
        // WebDriver focuses the input; the dialog would leave the focus where it was.
        self.run("document.activeElement.blur()", Vec::new());
    }

    /// Passes files like [`Self::attach`], but sends nothing else to the page, which may be busy by then.
    #[track_caller]
    pub fn choose(&self, files: &[&Path]) {
        let names = files.iter().map(|file| file.canonicalize().expect("the file to be there"));
        let names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        let input = self.wait(self.client.find(fantoccini::Locator::Css("input[type=file]")));
        self.wait(input.send_keys(&names.join("\n")));
    }

    /// Drops a file onto the middle of the page.
    ///
    /// WebDriver cannot drag from outside the page, so a script in the page dispatches the events.
    #[track_caller]
    pub fn drop_file(&self, name: &str, bytes: &[u8]) {
        let script = "
            const [name, bytes] = arguments;
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
            const target = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
            for (const type of ['dragenter', 'dragover', 'drop']) {
                target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
            }";
        self.run(script, vec![json!(name), json!(bytes)]);
    }

    /// Drags files and folders from outside onto the middle of the page.
    #[track_caller]
    pub fn drop_paths(&self, paths: &[&Path]) {
        let paths: Vec<_> = paths.iter().map(|path| path.canonicalize().expect("the path to be there")).collect();
        let middle = self.value("[innerWidth / 2, innerHeight / 2]");
        let data = json!({ "items": [], "files": paths, "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({ "type": kind, "x": middle[0], "y": middle[1], "data": data });
            self.devtools("Input.dispatchDragEvent", event);
        }
    }

    #[track_caller]
    pub fn press(&self, keys: &str) {
        let element = self.wait(self.client.active_element());
        self.wait(element.send_keys(keys));
    }

    #[track_caller]
    fn wheel_pixel(&self, (x, y): (i64, i64), delta_y: i64) {
        let scroll = WheelAction::Scroll { duration: None, x, y, delta_x: 0, delta_y };
        self.wait(self.client.perform_actions(WheelActions::new("wheel".to_owned()).then(scroll)));
    }

    #[track_caller]
    fn hover_pixel(&self, at: (i64, i64)) {
        self.wait(self.client.perform_actions(MouseActions::new("mouse".to_owned()).then(move_to(at))));
    }

    #[track_caller]
    fn drag_pixels(&self, [from, between, to]: [(i64, i64); 3]) {
        let gesture = MouseActions::new("mouse".to_owned())
            .then(move_to(from))
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
            .then(move_to(between))
            .then(move_to(to))
            .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.wait(self.client.perform_actions(gesture));
    }

    /// Returns the console messages since the last call, including violations of the content security policy.
    ///
    /// Performance messages of the graphics driver, which a screenshot provokes, are left out.
    #[track_caller]
    pub fn console(&self) -> Vec<String> {
        let entries = self.issue("se/log", json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let lines = entries.iter().map(|entry| format!("{}: {}", entry["level"], entry["message"]));
        lines.filter(|line| !line.contains("GL Driver Message (OpenGL, Performance")).collect()
    }

    pub fn check_console(&self) {
        assert_eq!(self.console(), Vec::<String>::new(), "the page wrote to its console");
    }

    /// Saves a screenshot in `target/screenshots/`.
    #[track_caller]
    pub fn screenshot(&self, name: &str) -> PathBuf {
        let folder = root().join("target/screenshots");
        let file = folder.join(format!("{name}.png"));
        fs::create_dir_all(&folder).expect("a folder for pictures");
        fs::write(&file, self.wait(self.client.screenshot())).expect("the picture to be written");
        file
    }

    #[track_caller]
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.issue("goog/cdp/execute", json!({ "cmd": command, "params": parameters }))
    }

    #[track_caller]
    fn issue(&self, path: &'static str, body: Value) -> Value {
        self.wait(self.client.issue_cmd(Own { path, body }))
    }

    #[track_caller]
    fn wait<T>(&self, command: impl Future<Output = Result<T, CmdError>>) -> T {
        // No `expect` in a closure, because the panic has to name the line of the journey.
        match self.runtime.block_on(command) {
            Ok(value) => value,
            Err(error) => panic!("the browser refused: {error}"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing the session ends Chromium; ending only the driver would leave it running.
        let _ = self.runtime.block_on(self.client.clone().close());
    }
}

#[expect(clippy::cast_precision_loss, reason = "a position on a screen")]
fn move_to((x, y): (i64, i64)) -> PointerAction {
    PointerAction::MoveTo { duration: None, x: x as f64, y: y as f64 }
}

/// Point of an element, as fractions of its width from the left and of its height from the top.
#[derive(Debug, Clone, Copy)]
pub struct Spot(pub f64, pub f64);
