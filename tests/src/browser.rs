//! A headless Chromium that a test drives.
//!
//! Calls block: a journey reads from top to bottom, and needs no runtime of its own.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction, WheelAction, WheelActions};
use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::server::root;

use driver::{Driver, Own};

mod driver;

/// How long a journey waits for the page before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks at the page.
const PAUSE: Duration = Duration::from_millis(25);

/// Chromium without a screen, a GPU or a network, as root in a container too.
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

/// One browser with one tab, closed when dropped.
pub struct Browser {
    runtime: Runtime,
    client: Client,
    driver: Driver,
}

impl Browser {
    /// Starts a browser of 1280 × 720 pixels at an address.
    ///
    /// # Panics
    ///
    /// Chromium or chromedriver is missing or does not start.
    #[track_caller]
    pub fn open(url: &str) -> Self {
        Self::open_sized(url, 1280, 720)
    }

    /// Starts a browser whose page has a size in CSS pixels.
    ///
    /// # Panics
    ///
    /// Chromium or chromedriver is missing or does not start.
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
        // A window has a frame, even without a screen: this is the size of the page itself.
        browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        browser.goto(url);
        browser
    }

    /// Opens another address in the tab.
    #[track_caller]
    pub fn goto(&self, url: &str) {
        self.wait(self.client.goto(url));
    }

    /// The value of a JavaScript expression.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression})"), Vec::new())
    }

    /// The text of the elements that a selector finds, one a line, as a person sees it.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let texts = format!("[...document.querySelectorAll({selector:?})].map(e => e.innerText).join('\\n')");
        self.value(&texts).as_str().unwrap_or_default().to_owned()
    }

    /// Runs statements with `arguments`, and returns what they return.
    #[track_caller]
    pub fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.wait(self.client.execute(script, arguments))
    }

    /// As [`Self::run`], for a page that may be busy or may crash.
    ///
    /// # Errors
    ///
    /// What the driver says: that the page does not answer in half a minute, or is no more.
    pub fn try_run(&self, script: &str) -> Result<Value, String> {
        self.runtime.block_on(self.client.execute(script, Vec::new())).map_err(|error| error.to_string())
    }

    /// The driver's process, from which those of this browser descend.
    pub fn pid(&self) -> u32 {
        self.driver.pid()
    }

    /// Waits until an expression is truthy, and returns its value.
    ///
    /// # Panics
    ///
    /// It is not within half a minute; a screenshot then lies in `target/screenshots/`.
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
                let (page, console) = (self.text("body"), self.console());
                panic!("waited in vain for {expression}; see {}\n{page}\n{console:#?}", picture.display());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Gives files to the page's file input, as the file dialogue does.
    #[track_caller]
    pub fn attach(&self, files: &[&Path]) {
        self.choose(files);
        // WebDriver focuses the input; the dialogue would have left the focus where it was.
        self.run("document.activeElement.blur()", Vec::new());
    }

    /// As [`Self::attach`], without a question to a page that may be busy by then.
    #[track_caller]
    pub fn choose(&self, files: &[&Path]) {
        let names = files.iter().map(|file| file.canonicalize().expect("the file to be there"));
        let names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        let input = self.wait(self.client.find(Locator::Css("input[type=file]")));
        self.wait(input.send_keys(&names.join("\n")));
    }

    /// Drops a file onto the middle of the page.
    ///
    /// WebDriver has no drag from outside the page, so the events are made in the page.
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

    /// Clicks the first element that a selector finds.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.wait(self.client.find(Locator::Css(selector)));
        self.wait(element.click());
    }

    /// Clicks the first element of a kind that has this text.
    #[track_caller]
    pub fn click_text(&self, tag: &str, text: &str) {
        let path = format!("//{tag}[contains(normalize-space(.), '{text}')]");
        let element = self.wait(self.client.find(Locator::XPath(&path)));
        self.wait(element.click());
    }

    /// Types keys into whatever has the focus.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        let element = self.wait(self.client.active_element());
        self.wait(element.send_keys(keys));
    }

    /// Turns the wheel over a point of an element; positive is towards the person.
    #[track_caller]
    pub fn wheel(&self, selector: &str, at: Spot, delta_y: i64) {
        let (x, y) = self.pixel(selector, at);
        let scroll = WheelAction::Scroll { duration: None, x, y, delta_x: 0, delta_y };
        self.wait(self.client.perform_actions(WheelActions::new("wheel".to_owned()).then(scroll)));
    }

    /// Moves the pointer over a point of an element.
    #[track_caller]
    pub fn hover(&self, selector: &str, at: Spot) {
        let action = self.move_to(selector, at);
        self.wait(self.client.perform_actions(MouseActions::new("mouse".to_owned()).then(action)));
    }

    /// Presses, moves and releases the left button over an element.
    #[track_caller]
    pub fn drag(&self, selector: &str, from: Spot, to: Spot) {
        let gesture = MouseActions::new("mouse".to_owned())
            .then(self.move_to(selector, from))
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
            .then(self.move_to(selector, Spot((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0)))
            .then(self.move_to(selector, to))
            .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.wait(self.client.perform_actions(gesture));
    }

    /// What the page wrote to its console since the last call, violations of the security policy included.
    ///
    /// Left out: advice of the graphics driver on speed, which a screenshot provokes.
    #[track_caller]
    pub fn console(&self) -> Vec<String> {
        let entries = self.issue("se/log", json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let lines = entries.iter().map(|entry| format!("{}: {}", entry["level"], entry["message"]));
        lines.filter(|line| !line.contains("GL Driver Message (OpenGL, Performance")).collect()
    }

    /// Checks that the console is empty.
    ///
    /// # Panics
    ///
    /// Something was written since the last call.
    #[track_caller]
    pub fn check_console(&self) {
        assert_eq!(self.console(), Vec::<String>::new(), "the page wrote to its console");
    }

    /// Saves the page as it looks now, and says where.
    #[track_caller]
    pub fn screenshot(&self, name: &str) -> PathBuf {
        let folder = root().join("target/screenshots");
        let file = folder.join(format!("{name}.png"));
        fs::create_dir_all(&folder).expect("a folder for pictures");
        fs::write(&file, self.wait(self.client.screenshot())).expect("the picture to be written");
        file
    }

    /// Sends a command of the developer tools' protocol.
    #[track_caller]
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.issue("goog/cdp/execute", json!({ "cmd": command, "params": parameters }))
    }

    #[track_caller]
    fn issue(&self, path: &'static str, body: Value) -> Value {
        self.wait(self.client.issue_cmd(Own { path, body }))
    }

    #[track_caller]
    fn move_to(&self, selector: &str, at: Spot) -> PointerAction {
        let (x, y) = self.pixel(selector, at);
        #[expect(clippy::cast_precision_loss, reason = "a position on a screen")]
        PointerAction::MoveTo { duration: None, x: x as f64, y: y as f64 }
    }

    /// A spot of an element in CSS pixels of the window.
    #[track_caller]
    fn pixel(&self, selector: &str, Spot(x, y): Spot) -> (i64, i64) {
        let script = "
            const [selector, x, y] = arguments;
            const box = document.querySelector(selector).getBoundingClientRect();
            return [Math.round(box.left + x * box.width), Math.round(box.top + y * box.height)];";
        let pixel = self.run(script, vec![json!(selector), json!(x), json!(y)]);
        (pixel[0].as_i64().expect("a number"), pixel[1].as_i64().expect("a number"))
    }

    #[track_caller]
    fn wait<T>(&self, command: impl Future<Output = Result<T, CmdError>>) -> T {
        // Not `expect` in a closure: the panic has to name the line of the journey.
        match self.runtime.block_on(command) {
            Ok(value) => value,
            Err(error) => panic!("the browser refused: {error}"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing is what ends Chromium; the driver alone would leave it behind.
        let _ = self.runtime.block_on(self.client.clone().close());
    }
}

/// A point of an element: fractions of its width from the left and of its height from the top.
#[derive(Debug, Clone, Copy)]
pub struct Spot(pub f64, pub f64);
